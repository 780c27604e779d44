// Package request sends the commands of a session view as tasks and returns their results to the
// event loop. It knows the session and the status message, and nothing of the parts that send.
package request
