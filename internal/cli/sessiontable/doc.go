// Package sessiontable writes sessions as a table, with columns that the user chooses, and reads
// the details that some columns show.
//
// It connects to no server and knows no verb.
package sessiontable
