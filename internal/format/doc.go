// Package format owns texts shortened to a length, and numbers, sizes and durations for people. It must
// not know terminals: cells and untrusted characters are the business of its callers. Standard library
// only.
package format
