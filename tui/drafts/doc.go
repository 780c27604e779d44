// Package drafts keeps unsent messages: in files of the user, or in memory only. It owns the
// directory of these files. A message stays there until it is sent or cleared.
package drafts
