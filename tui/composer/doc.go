// Package composer owns the message that the user writes: the text area, long pasted texts shown as
// one line each, and the recall of earlier messages. It must not send the message.
package composer
