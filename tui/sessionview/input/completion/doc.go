// Package completion has the lists beside a message that complete it: commands while the message is
// a single word after a slash, files and resources while the word at the cursor begins with @. It is
// given the message and the word, and returns how they change; it knows no text field.
package completion
