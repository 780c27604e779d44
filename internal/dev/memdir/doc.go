// Package memdir puts the temporary directories of tests into memory, where a sync costs nothing. It
// must not know what the tests do.
package memdir
