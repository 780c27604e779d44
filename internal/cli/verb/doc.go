// Package verb declares what a verb of the command line is: one value with its command and with
// what is known of it before it runs. It owns what every verb is given, the Context: streams,
// environment, global flags, the user's configuration, and how results, notes and errors are
// written. It checks arguments, flags, and whether a verb may run here or with a dialect.
//
// It opens no connection, and knows no verb.
package verb
