// Package composer owns the message that the user writes: the text area, a window for long texts,
// and the recall of earlier messages. It must not send the message.
package composer
