// Package terminal runs a program on a pseudo terminal for tests. It records the program's output,
// sends keys, and reports whether the program restored the terminal. The package must not depend on
// the program.
package terminal
