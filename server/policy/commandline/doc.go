// Package commandline reads command lines as shells do: which programs a line runs or may run, and which
// files it names. Its table of programs says which of their flags and operands are commands,
// scripts and written files.
//
// It has only data and pure functions. It must not know policies, requests and the file system.
package commandline
