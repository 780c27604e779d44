// Package attachment makes files of this machine parts of a message: it reads them, finds their
// types, recognises pasted paths and paths in a text, and gets an image from the clipboard. It must
// not know sessions or screens.
package attachment
