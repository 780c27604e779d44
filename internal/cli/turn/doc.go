// Package turn sends a message with its attachments and follows its turn to the end, for verbs that
// wait. It owns the flags of waiting and of attachments, the result of a turn as exit code and
// outcome, and the conditions that end the waiting because a person is needed.
//
// It knows no verb.
package turn
