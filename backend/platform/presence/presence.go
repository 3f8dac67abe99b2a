// Package presence asks the operating system whether the person at this machine is its user: with their password, finger or face, in
// the system's own dialog. A Checker is safe for concurrent use.
package presence
