// Package safetext owns the table of characters that untrusted text must not use invisibly. It must
// not know how callers treat them: one removes them, another shows their codes.
package safetext
