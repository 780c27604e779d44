// Package localserver owns the server of this user on this machine: its data directory and the
// files in it, its socket and credentials, how it is started in the background, found and stopped.
// The lock of the directory belongs to the store (server/sqlite/dirlock). The package must not know
// any verb, flag or configuration file, nor the server itself: package instance runs it.
//
// Files in the data directory, which has mode 0700:
//
//	serving       locked while a server runs
//	agentctl.db   the store, with its log and index beside it
//	agentctl.sock the Unix socket, 0600
//	socket        the path of the socket, if the directory's own path is too long for one
//	token         the credential for loopback TCP, 0600, kept over restarts
//	open          the running server's URLs where programs without a credential decide requests
//	url           the running server's URLs that may receive the token, and its fingerprint
//	tls.crt       the certificate of TLS that was made, and tls.key, its key, 0600
//	secret        signs exported states, 0600
//	state.key     makes the key pair that signs exported states for other servers, 0600
//	key           the keys that sign credentials, 0600
//	tokens        records of the credentials that were made, to list and revoke them
//	logins        credentials from other servers, 0600 (package credentials)
//	known_servers fingerprints of trusted certificates, 0600 (package credentials)
//	server.log    the log of a background server and its output; server.log.old is the older part
//	log_path      the path of the running server's log file
//	default_agent the default agent that a flag of the running server names
package localserver
