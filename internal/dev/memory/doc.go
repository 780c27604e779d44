// Package memory lets the tests of a package take memory in place of time. It must not know what the
// tests do.
package memory
