// Package safetext owns the table of characters that text from elsewhere must not use unseen. It
// must not know what becomes of such a character: one caller removes it, another one shows its code.
package safetext
