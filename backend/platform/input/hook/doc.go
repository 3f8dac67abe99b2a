// Package hook reads pointer and keys through the hook library of robotgo, for systems where we have no
// reader of our own. On Linux it is compiled for its tests only (build tag hooktest): there package x11 is faster
// and exact.
//
// What is known of the library, and how it is dealt with here:
//   - its End crashes when called a second time, and sometimes at the first: it is started once for the life of
//     the process, at the first Run, and never ended; between runs what it delivers is dropped;
//   - it is polled, every 10 ms here, and events are stamped then: their times are late by up to so much;
//   - it keeps 1,024 events between polls and drops more silently: Check says "partial";
//   - it tells of a pressed key and of the text the key made one after the other: they are joined here;
//   - what it calls MouseHold is a release, MouseUp a click, which is no event of its own here;
//   - it gives coordinates as 16-bit numbers, and of the wheel whole notches only.
package hook
