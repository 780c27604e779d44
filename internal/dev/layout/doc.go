// Package layout checks the rules of the source tree: imports between packages, packages without
// I/O, package documentation, the map in ARCHITECTURE.md, test names in documents, and the cost of
// start-up. It holds tests only, reads the tree as text and must not know what any package does.
package layout
