// Package request sends the commands of a screen as tasks and returns their results to the event
// loop. It knows the sessions and the status message, and nothing of the parts that send.
package request
