// Package credentials owns the credentials of a user for other servers: the login with a password,
// the store of the credentials it returned, and the password prompt. It also reads the file of
// users of a server on this machine. It must not know any verb or what a credential permits.
package credentials
