// Package serverset shows several servers as one remote.Server. The first is home: its sessions
// keep their ids. Those of another have the id NAME/ID, and so have their parents and search hits.
//
// Each server has its own connection. A server that is slow or lost delays no other.
package serverset
