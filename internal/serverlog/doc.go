// Package serverlog owns the log of a server: its format, the secrets that it must not hold, the
// file with its bound, and reading that file. It must not know any server, verb or flag.
package serverlog
