# Deskbell's terminal: tells it where prompts, commands and their ends are (OSC 133). It runs after your own profile.
$Global:__DeskbellK = '@NONCE@'
$Global:__DeskbellPrompt = $function:prompt
$Global:__DeskbellLast = -1
function Global:__DeskbellEsc([string]$s) {
	if ($s.Length -gt 16000) { $s = $s.Substring(0, 16000) }
	$s = $s.Replace('\', '\\')
	-join ($s.ToCharArray() | ForEach-Object { if ([int]$_ -lt 32) { '\x{0:x2}' -f [int]$_ } else { $_ } })
}
function Global:prompt {
	$ok = $?
	$native = $global:LASTEXITCODE
	$code = if ($ok) { 0 } elseif ($native) { $native } else { 1 }
	$e = [char]27; $b = [char]7; $k = $Global:__DeskbellK
	$out = "$e]133;D;$k;$code$b$e]133;P;$k;$(__DeskbellEsc (Get-Location).Path)$b$e]133;A;$k$b"
	$out += & $Global:__DeskbellPrompt
	$out += "$e]133;B;$k$b"
	$global:LASTEXITCODE = $native
	$out
}
if (Get-Module PSReadLine) {
	$Global:__DeskbellRead = $function:PSConsoleHostReadLine
	function Global:PSConsoleHostReadLine {
		$line = & $Global:__DeskbellRead
		[Console]::Write("$([char]27)]133;C;$($Global:__DeskbellK);1;$(__DeskbellEsc $line)$([char]7)")
		$line
	}
}
