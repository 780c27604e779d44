// Command sqlite appends events with the C library of SQLite, as a reference of internal/dev/bench. It
// is a module of its own, so that agentctl does not depend on a C compiler.
package main
