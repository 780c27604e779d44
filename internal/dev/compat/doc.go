// Package compat tests the program against older versions (build tag compat): its first compatible
// version, the commit that the file first names, and every release since, built from the history of
// the clone. From that commit on, a client, a server and a data directory of one version work with
// every later version. It must not know how a version works: it runs command lines and compares what
// they print.
package compat
