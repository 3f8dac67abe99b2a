// Package confine has the parts of Linux that keep a program from what it may not have: Landlock, filters of system calls,
// limits, control groups, and the counting of processes. The box of plug-ins (backend/plugins) and the box of commands
// (backend/box) put them together, each in its own way. Other systems have none of it.
package confine
