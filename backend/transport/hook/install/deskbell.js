// Written by `deskbell hook install opencode`; `deskbell hook install opencode --uninstall` takes it away.
// Before opencode calls a tool, Deskbell is asked. Whatever goes wrong on the way is a refusal.
import { spawn } from "node:child_process"

const command = ["deskbell-hook", "opencode"]
const limit = 600 // seconds

// ask starts the hook and returns what it says, or says why it said nothing.
function ask(question) {
  return new Promise((resolve, reject) => {
    const failed = (why) => reject(new Error(`Deskbell blocked this call: its hook ${why}. The call was not run; tell your user.`))
    let hook
    try {
      hook = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
    } catch (error) {
      return failed(`could not be started (${error.message})`)
    }
    const said = []
    const timer = setTimeout(() => {
      hook.kill("SIGKILL")
      failed("did not answer in time")
    }, limit * 1000)
    hook.on("error", (error) => {
      clearTimeout(timer)
      failed(`could not be started (${error.message})`)
    })
    hook.stdout.on("data", (part) => said.push(part))
    hook.on("close", (code, signal) => {
      clearTimeout(timer)
      try {
        const answer = JSON.parse(Buffer.concat(said).toString("utf8"))
        if (answer.decision === "allow" && code === 0) return resolve(answer)
        reject(new Error(answer.message || "Deskbell blocked this call."))
      } catch {
        failed(`ended without an answer (${signal ?? code})`)
      }
    })
    hook.stdin.on("error", () => {}) // it ended before it had read everything; that is seen above
    hook.stdin.end(JSON.stringify(question))
  })
}

export const Deskbell = async ({ directory, worktree }) => ({
  "tool.execute.before": async (input, output) => {
    const { tool, sessionID, callID } = input
    const answer = await ask({ event: "tool.execute.before", tool, sessionID, callID, args: output.args ?? {}, directory, worktree })
    if (answer.args === undefined) return
    // opencode goes on with the object that it gave, so that is what has to change.
    for (const name of Object.keys(output.args)) delete output.args[name]
    Object.assign(output.args, answer.args)
  },
})
