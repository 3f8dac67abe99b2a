#!/usr/bin/env node
require("../run.js")("deskbell-hook");
