// Package layout owns the rules of the source tree: which package may import which, what keeps a codec pure, how a package
// introduces itself and how long a file may grow, and what start-up may cost. It holds tests only, reads the tree as text
// and must not know what any package does.
package layout
