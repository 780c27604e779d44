// Package screenshot renders terminal screens as pictures for the documentation: program output
// becomes a screen, and a screen, or a sequence of them, an SVG without external fonts or scripts.
// Equal screens give equal bytes. The package must not depend on the program.
package screenshot
