// Package screenshot renders terminal screens as pictures for the documentation: program output
// becomes a screen, and the screen an SVG without external fonts or scripts. Equal screens give
// equal bytes. The package must not depend on the program.
package screenshot
