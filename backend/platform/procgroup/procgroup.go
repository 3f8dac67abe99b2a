// Package procgroup starts a command together with a hold on everything that it starts: a process group on Unix, a job on
// Windows. It is what the proxy of MCP servers and the reference agent's tools share.
package procgroup
