// Package connection opens the connection of a verb to its server: the local one, which it starts
// if necessary, one at a URL or in the configuration, or one of another machine through ssh. It
// asks for trust in an unknown certificate, and sends single commands.
//
// It knows no verb. What a command means is not its concern.
package connection
