// Package terminal owns a terminal for tests: a real pseudo terminal with a program on it, what the program wrote, the keys it
// is sent, and whether it left the terminal as it found it. It must not know which program that is.
package terminal
