// Package screenshot owns pictures of terminals for the documents: what a program wrote becomes a screen, and the screen an SVG
// that needs no font file and no script. The same screen gives the same bytes. It must not know which program wrote.
package screenshot
