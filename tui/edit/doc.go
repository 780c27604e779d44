// Package edit owns the editing keys that all text fields of the screen share: the key that inserts what
// was deleted last. It must not know the fields.
package edit
