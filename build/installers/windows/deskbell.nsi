; The installer for Windows, for one user or for the machine; docs/install.md lists its switches. build/installers/windows/build runs
; makensis with these definitions: VERSION, NUMBERS (a version as 1.2.3.4), FILES (the folder with the programs), OUT, and WEBVIEW2
; where there is Microsoft's bootstrapper to be packed.
Target amd64-unicode
Unicode true
ManifestDPIAware true
ManifestSupportedOS Win10
SetCompressor /SOLID lzma
SetCompressorDictSize 64
RequestExecutionLevel user ; for the machine it starts itself again as administrator

!include MUI2.nsh
!include FileFunc.nsh
!include LogicLib.nsh
!include nsDialogs.nsh

!define NAME "Deskbell"
!define ID "Deskbell.Deskbell" ; the application's id, which the program gives itself as well
!define KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\${NAME}"
!define RUN "Software\Microsoft\Windows\CurrentVersion\Run"
!define LINK "Software\Classes\deskbell"
!define RUNTIME "Microsoft\EdgeUpdate\Clients\{F3017226-FE2A-4295-8BDF-00C3A9A7E4C5}" ; WebView2
!define NEEDS_ADMINISTRATOR 740 ; ERROR_ELEVATION_REQUIRED

Name "${NAME}"
OutFile "${OUT}"
BrandingText "${NAME} ${VERSION}"
VIProductVersion "${NUMBERS}"
VIFileVersion "${NUMBERS}"
VIAddVersionKey /LANG=0 "ProductName" "${NAME}"
VIAddVersionKey /LANG=0 "FileDescription" "${NAME} Setup"
VIAddVersionKey /LANG=0 "FileVersion" "${VERSION}"
VIAddVersionKey /LANG=0 "ProductVersion" "${VERSION}"
VIAddVersionKey /LANG=0 "LegalCopyright" "The Deskbell authors, Apache-2.0"

Var Scope    ; user or machine
Var ForAll   ; the button of the page that asks
Var Data     ; remove or keep

!define MUI_ICON "${FILES}\icon.ico"
!define MUI_UNICON "${FILES}\icon.ico"
!define MUI_ABORTWARNING
Page custom ScopePage ScopeChosen
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_COMPONENTS
!insertmacro MUI_PAGE_INSTFILES
!define MUI_FINISHPAGE_RUN "$INSTDIR\deskbellw.exe"
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"
!insertmacro MUI_LANGUAGE "SimpChinese"

!macro Text NAME ENGLISH CHINESE
  LangString ${NAME} ${LANG_ENGLISH} "${ENGLISH}"
  LangString ${NAME} ${LANG_SIMPCHINESE} "${CHINESE}"
!macroend
!insertmacro Text ScopeTitle "Who will use Deskbell?" "谁将使用 Deskbell？"
!insertmacro Text ScopeAbout "Each user has requests and settings of their own." "每位用户都有各自的请求和设置。"
!insertmacro Text ScopeUser "Only me (no administrator needed)" "仅限我自己（无需管理员权限）"
!insertmacro Text ScopeMachine "Everyone on this computer (asks for an administrator)" "这台计算机上的所有人（需要管理员权限）"
!insertmacro Text Program "Deskbell" "Deskbell"
!insertmacro Text ProgramAbout "The program, its hook for coding agents, a shortcut in the start menu, and deskbell:// links." "程序、供编程智能体使用的钩子、开始菜单快捷方式以及 deskbell:// 链接。"
!insertmacro Text Path "Find deskbell in terminals" "在终端中可直接运行 deskbell"
!insertmacro Text PathAbout "Adds the folder to PATH, for terminals opened from now on." "将安装文件夹加入 PATH，对之后打开的终端生效。"
!insertmacro Text Session "Start when I sign in" "登录时启动"
!insertmacro Text SessionAbout "Starts Deskbell without its window, so that requests reach you." "在不显示窗口的情况下启动 Deskbell，以便请求能够送达。"
!insertmacro Text Running "Deskbell is running and will be closed. Nothing is lost: open requests wait until it runs again." "Deskbell 正在运行，即将关闭。不会丢失任何内容：未答复的请求会等到它再次运行。"
!insertmacro Text NotClosed "Deskbell could not be closed. Close it, then try again." "无法关闭 Deskbell。请先关闭它，然后重试。"
!insertmacro Text NoRuntime "Deskbell is installed, but its window needs Microsoft's WebView2 runtime, which this computer lacks. Get it from https://developer.microsoft.com/microsoft-edge/webview2 (Evergreen Bootstrapper). Until then deskbell serve works in a browser." "Deskbell 已安装，但其窗口需要 Microsoft WebView2 运行时，而这台计算机上没有。请从 https://developer.microsoft.com/microsoft-edge/webview2 获取（Evergreen Bootstrapper）。在此之前，可以在浏览器中使用 deskbell serve。"
!insertmacro Text RemoveData "Also delete your requests, answers, recordings and settings?$\r$\n$\r$\n$LOCALAPPDATA\Deskbell" "是否同时删除您的请求、答复、录制内容和设置？$\r$\n$\r$\n$LOCALAPPDATA\Deskbell"
!insertmacro Text DataKept "Your data stays in $LOCALAPPDATA\Deskbell" "您的数据保留在 $LOCALAPPDATA\Deskbell"
!insertmacro Text Locked "Some files are still in use and were left:" "部分文件仍在使用，已保留："

; UseScope sets what the folders and SHCTX mean. Deskbell is a 64-bit program.
!macro UseScope
  SetRegView 64
  ${If} $Scope == machine
    SetShellVarContext all
  ${Else}
    SetShellVarContext current
  ${EndIf}
!macroend

; MustBeAdministrator starts PROGRAM again as one, unless it is that already.
!macro MustBeAdministrator PROGRAM SWITCHES
  UserInfo::GetAccountType
  Pop $0
  ${If} $0 != "Admin"
    ${If} ${Silent}
      SetErrorLevel ${NEEDS_ADMINISTRATOR}
    ${Else}
      ExecShell "runas" "${PROGRAM}" "${SWITCHES}"
    ${EndIf}
    Quit
  ${EndIf}
!macroend

; Helper runs deskbell-setup; its exit code is in $0.
!macro Unpack
  InitPluginsDir
  File "/oname=$PLUGINSDIR\deskbell-setup.exe" "${FILES}\deskbell-setup.exe"
!macroend
!macro Helper ARGUMENTS
  ExecWait '"$PLUGINSDIR\deskbell-setup.exe" ${ARGUMENTS}' $0
!macroend

; Close ends what runs out of the folder, after a question where there is somebody to ask.
!macro Close
  !insertmacro Helper 'running "$INSTDIR"'
  ${If} $0 != 0
    MessageBox MB_OKCANCEL|MB_ICONINFORMATION "$(Running)" /SD IDOK IDOK +2
    Abort
    !insertmacro Helper 'close "$INSTDIR"'
    ${If} $0 != 0
      MessageBox MB_OK|MB_ICONSTOP "$(NotClosed)" /SD IDOK
      SetErrorLevel 2
      Abort "$(NotClosed)"
    ${EndIf}
  ${EndIf}
!macroend

Function .onInit
  SetRegView 64
  StrCpy $Scope user
  ${GetParameters} $R0
  ClearErrors
  ${GetOptions} $R0 "/AllUsers" $R1
  ${IfNot} ${Errors}
    StrCpy $Scope machine
    !insertmacro MustBeAdministrator "$EXEPATH" "/AllUsers"
  ${EndIf}
  ClearErrors
  ${GetOptions} $R0 "/AutoStart" $R1
  ${IfNot} ${Errors}
    SectionGetFlags 2 $R2 ; the third section
    IntOp $R2 $R2 | ${SF_SELECTED}
    SectionSetFlags 2 $R2
  ${EndIf}
  ClearErrors
  ${GetOptions} $R0 "/NoPath" $R1
  ${IfNot} ${Errors}
    SectionSetFlags 1 0
  ${EndIf}
  !insertmacro UseScope
  ${If} $INSTDIR == ""
    Call UsualFolder
  ${EndIf}
FunctionEnd

; Where it is installed already, or belongs.
Function UsualFolder
  ReadRegStr $INSTDIR SHCTX "${KEY}" "InstallLocation"
  ${If} $INSTDIR == ""
    ${If} $Scope == machine
      StrCpy $INSTDIR "$PROGRAMFILES64\${NAME}"
    ${Else}
      StrCpy $INSTDIR "$LOCALAPPDATA\Programs\${NAME}"
    ${EndIf}
  ${EndIf}
FunctionEnd

Function ScopePage
  !insertmacro MUI_HEADER_TEXT "$(ScopeTitle)" "$(ScopeAbout)"
  nsDialogs::Create 1018
  Pop $0
  ${NSD_CreateRadioButton} 0 20u 100% 12u "$(ScopeUser)"
  Pop $1
  ${NSD_CreateRadioButton} 0 40u 100% 12u "$(ScopeMachine)"
  Pop $ForAll
  ${If} $Scope == machine
    ${NSD_Check} $ForAll
  ${Else}
    ${NSD_Check} $1
  ${EndIf}
  nsDialogs::Show
FunctionEnd

Function ScopeChosen
  StrCpy $R3 $Scope
  ${NSD_GetState} $ForAll $0
  StrCpy $Scope user
  ${If} $0 == ${BST_CHECKED}
    StrCpy $Scope machine
    !insertmacro MustBeAdministrator "$EXEPATH" "/AllUsers"
  ${EndIf}
  !insertmacro UseScope
  ${If} $R3 != $Scope
    Call UsualFolder
  ${EndIf}
FunctionEnd

Section "$(Program)" Program
  SectionIn RO
  !insertmacro Unpack
  !insertmacro Close
  SetOutPath "$INSTDIR"
  File "${FILES}\deskbell.exe"
  File "${FILES}\deskbellw.exe"
  File "${FILES}\deskbell-hook.exe"
  File "${FILES}\LICENSE.txt"
  WriteUninstaller "$INSTDIR\uninstall.exe"

  SetOutPath "$INSTDIR" ; where the shortcut's program begins
  CreateShortcut "$SMPROGRAMS\${NAME}.lnk" "$INSTDIR\deskbellw.exe" "" "$INSTDIR\deskbell.exe" 0
  !insertmacro Helper 'shortcut "$SMPROGRAMS\${NAME}.lnk" "${ID}"'

  WriteRegStr SHCTX "${LINK}" "" "URL:${NAME}"
  WriteRegStr SHCTX "${LINK}" "URL Protocol" ""
  WriteRegStr SHCTX "${LINK}\DefaultIcon" "" "$INSTDIR\deskbell.exe,0"
  ; After -- nothing in a link is read as an option.
  WriteRegStr SHCTX "${LINK}\shell\open\command" "" '"$INSTDIR\deskbellw.exe" open -- "%1"'

  ${GetSize} "$INSTDIR" "/S=0K" $0 $1 $2
  WriteRegStr SHCTX "${KEY}" "DisplayName" "${NAME}"
  WriteRegStr SHCTX "${KEY}" "DisplayVersion" "${VERSION}"
  WriteRegStr SHCTX "${KEY}" "DisplayIcon" "$INSTDIR\deskbell.exe,0"
  WriteRegStr SHCTX "${KEY}" "Publisher" "${NAME}"
  WriteRegStr SHCTX "${KEY}" "InstallLocation" "$INSTDIR"
  WriteRegStr SHCTX "${KEY}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr SHCTX "${KEY}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD SHCTX "${KEY}" "EstimatedSize" $0
  WriteRegDWORD SHCTX "${KEY}" "NoModify" 1
  WriteRegDWORD SHCTX "${KEY}" "NoRepair" 1

  SetRegView 32 ; where the runtime of a machine is written, also on 64 bit
  ReadRegStr $0 HKLM "Software\${RUNTIME}" "pv"
  SetRegView 64
  ${If} $0 == ""
  ${OrIf} $0 == "0.0.0.0"
    ReadRegStr $0 HKCU "Software\${RUNTIME}" "pv"
  ${EndIf}
  ${If} $0 == ""
  ${OrIf} $0 == "0.0.0.0"
    StrCpy $0 1
!ifdef WEBVIEW2
    File "/oname=$PLUGINSDIR\webview2.exe" "${WEBVIEW2}"
    ExecWait '"$PLUGINSDIR\webview2.exe" /silent /install' $0
!endif
    ${If} $0 != 0
      DetailPrint "$(NoRuntime)"
      MessageBox MB_OK|MB_ICONINFORMATION "$(NoRuntime)" /SD IDOK
    ${EndIf}
  ${EndIf}
SectionEnd

Section "$(Path)" Path
  !insertmacro Helper 'path add "$INSTDIR" $Scope'
SectionEnd

Section /o "$(Session)" Session
  ${If} $Scope == machine
    WriteRegStr SHCTX "${RUN}" "${NAME}" '"$INSTDIR\deskbellw.exe" --hidden'
  ${Else} ; the setting of this user's Deskbell, so that there is one entry
    nsExec::ExecToLog '"$INSTDIR\deskbell.exe" autostart on'
    Pop $0
    ${If} $0 != 0
      DetailPrint "deskbell autostart on: $0"
      SetErrorLevel 2
    ${EndIf}
  ${EndIf}
SectionEnd

!insertmacro MUI_FUNCTION_DESCRIPTION_BEGIN
  !insertmacro MUI_DESCRIPTION_TEXT ${Program} "$(ProgramAbout)"
  !insertmacro MUI_DESCRIPTION_TEXT ${Path} "$(PathAbout)"
  !insertmacro MUI_DESCRIPTION_TEXT ${Session} "$(SessionAbout)"
!insertmacro MUI_FUNCTION_DESCRIPTION_END

Function un.onInit
  SetRegView 64
  StrCpy $Scope user
  ReadRegStr $0 HKLM "${KEY}" "InstallLocation"
  ${If} $0 == $INSTDIR
    StrCpy $Scope machine
    !insertmacro MustBeAdministrator "$INSTDIR\uninstall.exe" ""
  ${EndIf}
  StrCpy $Data keep
  ${GetParameters} $R0
  ClearErrors
  ${GetOptions} $R0 "/RemoveData" $R1
  ${IfNot} ${Errors}
    StrCpy $Data remove
  ${EndIf}
  !insertmacro UseScope
FunctionEnd

Section "Uninstall"
  !insertmacro Unpack
  !insertmacro Close
  ${If} $Data == keep
    SetShellVarContext current
    ${If} ${FileExists} "$LOCALAPPDATA\Deskbell\*"
      MessageBox MB_YESNO|MB_ICONQUESTION|MB_DEFBUTTON2 "$(RemoveData)" /SD IDNO IDNO +2
      StrCpy $Data remove
    ${EndIf}
  ${EndIf}
  ; What a coding agent's settings would start in vain from now on, and what starts Deskbell by itself.
  nsExec::Exec '"$INSTDIR\deskbell.exe" uninstall --yes --by-uninstaller'
  Pop $0
  !insertmacro Helper 'close "$INSTDIR"'

  !insertmacro UseScope
  !insertmacro Helper 'path remove "$INSTDIR" $Scope'
  !insertmacro Helper 'start remove "$INSTDIR"'
  ReadRegStr $0 SHCTX "${LINK}\shell\open\command" ""
  ${If} $0 == '"$INSTDIR\deskbellw.exe" open -- "%1"'
    DeleteRegKey SHCTX "${LINK}"
  ${EndIf}
  DeleteRegKey SHCTX "${KEY}"
  Delete "$SMPROGRAMS\${NAME}.lnk"
  Delete "$INSTDIR\deskbell.exe"
  Delete "$INSTDIR\deskbellw.exe"
  Delete "$INSTDIR\deskbell-hook.exe"
  Delete "$INSTDIR\LICENSE.txt"
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR" ; only if nothing of anybody else's is in it

  SetShellVarContext current
  ${If} $Data == remove
    RMDir /r "$LOCALAPPDATA\Deskbell"
  ${ElseIf} ${FileExists} "$LOCALAPPDATA\Deskbell\*"
    DetailPrint "$(DataKept)"
  ${EndIf}
  ${If} ${FileExists} "$INSTDIR\deskbell.exe"
    SetErrorLevel 2
    DetailPrint "$(Locked) $INSTDIR"
  ${EndIf}
SectionEnd
