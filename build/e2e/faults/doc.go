// Package faults damages the data folder of a real server, stopped or under load, and compares what it serves after the next start with all
// that it acknowledged. Its tests are built with the tag faults, on Linux.
package faults
