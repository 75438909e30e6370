; What the Windows installer does besides copying files.
;
; The gateway and the editors' shims run evermoor.exe. Windows does not let anybody replace the file of a running program,
; but it can be renamed. So the installer moves it aside, and after the new one is in place, the new one takes over from the
; running gateway without losing a call. The shims keep running the old file until their editors end them.

Var GatewayMovedAside

; Moves the program aside if it is running. Removes what an earlier update moved aside, unless it still runs.
!macro MoveGatewayAside
  StrCpy $GatewayMovedAside 0
  Delete "$INSTDIR\evermoor.old-*.exe"
  ${If} ${FileExists} "$INSTDIR\evermoor.exe"
    ClearErrors
    Delete "$INSTDIR\evermoor.exe"
    ${If} ${Errors}
      ; A number that no file has yet: an old shim may still run the one from the update before.
      StrCpy $0 1
      ${While} ${FileExists} "$INSTDIR\evermoor.old-$0.exe"
        IntOp $0 $0 + 1
      ${EndWhile}
      ClearErrors
      Rename "$INSTDIR\evermoor.exe" "$INSTDIR\evermoor.old-$0.exe"
      ${IfNot} ${Errors}
        StrCpy $GatewayMovedAside 1
      ${EndIf}
    ${EndIf}
  ${EndIf}
  ClearErrors
!macroend

!macro NSIS_HOOK_PREINSTALL
  !insertmacro MoveGatewayAside
!macroend

!macro NSIS_HOOK_POSTINSTALL
  ${If} $GatewayMovedAside = 1
    DetailPrint "The new version takes over"
    ; In the background: nsExec shows no console window.
    nsExec::Exec '"$INSTDIR\evermoor.exe" restart --gateway'
    Pop $0
  ${EndIf}
!macroend

; Shims that still run keep the file that was moved aside. Deleting it on restart (/REBOOTOK) needs an administrator, so this user's
; next logon deletes it, and the folder if nothing else is in it.
!macro DeleteAtLogon
  ${If} ${FileExists} "$INSTDIR\evermoor.old-*.exe"
    WriteRegStr HKCU "Software\Microsoft\Windows\CurrentVersion\RunOnce" "${BUNDLEID}" \
      'cmd /d /c del /q "$INSTDIR\evermoor.old-*.exe" & rmdir "$INSTDIR"'
  ${EndIf}
!macroend

; An update may run the uninstaller of the old version. Then the gateway keeps running. The program is moved before the gateway is
; stopped: the tray or a shim would start another gateway from the old path.
!macro NSIS_HOOK_PREUNINSTALL
  !insertmacro MoveGatewayAside
  ${If} $UpdateMode <> 1
    ${If} $GatewayMovedAside = 1
      nsExec::Exec '"$INSTDIR\evermoor.old-$0.exe" stop'
      Pop $0
      Delete "$INSTDIR\evermoor.old-*.exe"
    ${EndIf}
    !insertmacro DeleteAtLogon
    ; The tray registers itself for notifications.
    DeleteRegKey HKCU "Software\Classes\AppUserModelId\${BUNDLEID}"
  ${EndIf}
!macroend
