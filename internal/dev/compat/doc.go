// Package compat tests the program against its first compatible version (build tag compat): the
// commit that the file first names, built from the history of the clone. From that commit on, a
// client, a server and a data directory of one version work with every later version. It must
// not know how either version works: it runs command lines and compares what they print.
package compat
