// Package serverlog owns the log of a server: its format, the file with its bound, and reading that
// file. It must not know any server, verb or flag, or which texts are secret.
package serverlog
