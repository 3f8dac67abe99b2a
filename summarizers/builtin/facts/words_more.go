package facts

// Requests and reports are in English or Chinese; the pages that are worked on are in any language. These are the words by which
// pages in German, French, Spanish, Portuguese, Italian, Dutch, Polish, Russian, Arabic, Japanese and Korean say most often what
// was done, and what was not. Of a word that English has too, the English meaning counts.

// moreVerbs is like enVerbs. Where a language says that something was done by another word than what it was, that word is among
// the last.
const moreVerbs = `
	create: erstellt angelegt erzeugt hinzugefügt créé créée créés créées ajouté ajoutée creado creada creados creadas añadido añadida agregado agregada criado criada adicionado adicionada creato creata aggiunto aggiunta aangemaakt gemaakt toegevoegd utworzono utworzony utworzone dodano создан создана создано созданы оформлен оформлена оформлено добавлен добавлена добавлено 생성되었습니다 생성됨 생성했습니다 추가되었습니다 등록되었습니다 : erstellen anlegen créer crear criar creare aanmaken utworzyć создать إنشاء إضافة 생성 등록
	save: gespeichert gesichert enregistré enregistrée enregistrés enregistrées sauvegardé sauvegardée guardado guardada guardados guardadas salvato salvata salvati salvate opgeslagen bewaard zapisano zapisany zapisane сохранен сохранён сохранена сохранено сохранены 저장되었습니다 저장됨 저장했습니다 : speichern enregistrer sauvegarder guardar salvo salva salvar salvare opslaan zapisać сохранить حفظ 저장
	delete: gelöscht entfernt supprimé supprimée supprimés supprimées effacé effacée eliminado eliminada eliminados eliminadas borrado borrada excluído excluída apagado apagada removido removida eliminato eliminata eliminati eliminate cancellato cancellata rimosso rimossa verwijderd gewist usunięto usunięty usunięte удален удалён удалена удалено удалены 삭제되었습니다 삭제됨 삭제했습니다 : löschen supprimer effacer eliminar borrar excluir apagar eliminare verwijderen usunąć удалить حذف 삭제
	send: gesendet verschickt versendet abgeschickt übermittelt eingereicht envoyé envoyée envoyés envoyées expédié soumis soumise enviado enviada enviados enviadas inviato inviata inviati inviate verzonden verstuurd ingediend wysłano wysłany wysłane отправлен отправлена отправлено отправлены 전송되었습니다 발송되었습니다 제출되었습니다 보냈습니다 : senden absenden envoyer enviar inviare verzenden versturen wysłać отправить إرسال 전송 제출
	import: hochgeladen importiert téléversé téléversée importé subido subida cargado cargada carregado carregada importado importada caricato caricata geüpload przesłano przesłany przesłane загружен загружена загружено загружены 업로드되었습니다 업로드했습니다 : hochladen téléverser subir carregar caricare uploaden przesłać загрузить رفع تحميل アップロード 업로드
	publish: veröffentlicht freigeschaltet publié publiée publiés publiées publicado publicada pubblicato pubblicata gepubliceerd opublikowano opublikowany opublikowane опубликован опубликована опубликовано 게시되었습니다 발행되었습니다 : veröffentlichen publier publicar pubblicare publiceren opublikować опубликовать نشر 게시
	pay: bezahlt gezahlt payé payée payés payées pagado pagada pagato pagata betaald zapłacono opłacono opłacony оплачен оплачена оплачено 결제되었습니다 결제했습니다 : zahlung paiement pago pagamento betaling płatność оплата платеж платёж bezahlen payer pagar pagare betalen zapłacić оплатить دفع 결제
	approve: genehmigt bewilligt -abgelehnt approuvé approuvée validé validée -refusé -refusée aprobado aprobada -rechazado -rechazada aprovado aprovada -rejeitado -rejeitada approvato approvata -rifiutato -rifiutata goedgekeurd -afgewezen zatwierdzono zatwierdzony zaakceptowano -odrzucono одобрен одобрена одобрено утвержден утверждён утверждена согласован согласована согласовано -отклонен -отклонён -отклонена 승인되었습니다 -거부되었습니다 : genehmigen approuver aprobar aprovar approvare goedkeuren zatwierdzić одобрить утвердить موافقة الموافقة 승인
	move: verschoben déplacé déplacée déplacés déplacées movido movida trasladado trasladada spostato spostata verplaatst przeniesiono przeniesiony перемещен перемещён перемещена перемещено 이동되었습니다 이동했습니다 : verschieben déplacer mover spostare verplaatsen przenieść переместить نقل 이동
	change: geändert aktualisiert bearbeitet modifié modifiée actualizado actualizada modificado modificada cambiado cambiada atualizado atualizada alterado alterada aggiornato aggiornata modificato modificata gewijzigd bijgewerkt zmieniono zaktualizowano обновлен обновлён обновлена обновлено изменен изменён изменена изменено обновлены изменены 변경되었습니다 수정되었습니다 업데이트되었습니다 : ändern modifier actualizar modificar atualizar aggiornare wijzigen zmienić изменить обновить تحديث تعديل 변경 수정
	receive: eingegangen erhalten empfangen reçu reçue recibido recibida recebido recebida ricevuto ricevuta ontvangen otrzymano получен получена получено : استلام
	rename: umbenannt renommé renommée renombrado renombrada renomeado renomeada rinominato rinominata hernoemd переименован переименована переименовано : umbenennen renommer переименовать
	copy: kopiert copié copiée copiado copiada copiato copiata gekopieerd skopiowano скопирован скопирована скопировано : نسخ
	login: angemeldet eingeloggt -abgemeldet -ausgeloggt connecté connectée -déconnecté -déconnectée ingelogd -uitgelogd zalogowano -wylogowano : anmelden einloggen
	ok: erfolgreich sucesso éxito succès successo -fehlgeschlagen -gescheitert -échoué -échouée réussi réussie -falló -fallido -fallida -falhou -fallito -fallita gelukt -mislukt pomyślnie успешно بنجاح -فشل -فشلت -تعذر -실패했습니다 -실패 : 
	done: erledigt abgeschlossen terminé terminée completado completada concluído concluída completato completata voltooid zakończono выполнен выполнена выполнено завершен завершён завершена завершено تم تمت しました されました ました 완료되었습니다 완료 : `

// moreHan is like zhVerbs: Japanese, and Chinese in its traditional characters.
const moreHan = `
	ok: -失敗 : 
	save: : 儲存 
	create: : 作成 登録 建立 
	delete: : 削除 刪除 
	send: : 送信 傳送 發送 送出 
	import: : 上傳 匯入
	login: : 登入 
	publish: : 公開 投稿 發佈 發布
	pay: : 決済 支払 
	approve: : 承認 核准 -却下 -拒絕 
	move: : 移動 
	change: : 変更 編集 變更 編輯
	add: : 追加 加入 `

// moreNot are words that turn round what is said: of what two words say, one.
const moreNot = `nicht kein keine keinen keiner keines pas aucun aucune não nunca non niet geen nie не нет لم لا لن غير ليس ません できません ませんでした 않았습니다 못했습니다 없습니다 않습니다`

// moreTrouble are phrases of errors.
const moreTrouble = `fehler|fehlgeschlagen|gescheitert|ungültig|ungültige|ungültiger|falsch|falsche|falsches|schiefgegangen|schiefgelaufen|nicht gefunden|nicht erreichbar|nicht möglich|nicht verfügbar|abgelehnt|verweigert|keine berechtigung|nicht berechtigt|nicht gültig|kein zugriff|abgelaufen|pflichtfeld|ist erforderlich|von jemand anderem|von einer anderen person|konflikt|konnte nicht|konnten nicht|bereits vergeben
	|erreur|échec|échoué|invalide|incorrect|incorrecte|introuvable|refusé|refusée|interdit|impossible de|indisponible|expiré|expirée|déjà utilisé|mal passé|pas valide|pas valides|pas autorisé|pas autorisée|conflit|champ obligatoire|champs obligatoires|est obligatoire|est requis|est requise|par quelqu'un d'autre|par quelqu’un d’autre|par une autre personne|par un autre utilisateur
	|falló|fallido|fallida|inválido|inválida|incorrecto|incorrecta|no encontrado|no encontrada|denegado|denegada|rechazado|rechazada|no se pudo|no se ha podido|no es válido|no es válida|no es correcto|no es correcta|no son correctos|no son correctas|ido mal|no disponible|no válido|no válida|caducado|caducada|salió mal|conflicto|no tiene permiso|no tienes permiso|no se puede|es obligatorio|es obligatoria|campo obligatorio|es requerido|por otra persona|por otro usuario
	|erro|falha|falhou|incorreto|incorreta|não encontrado|não encontrada|negado|negada|não foi possível|indisponível|expirado|expirada|deu errado|conflito|é obrigatório|é obrigatória|campo obrigatório|por outra pessoa|por outro usuário
	|errore|fallito|fallita|non valido|non valida|errato|errata|non trovato|non trovata|negato|negata|rifiutato|impossibile|non disponibile|scaduto|scaduta|andato storto|conflitto|è obbligatorio|è obbligatoria|campo obbligatorio|da qualcun altro|da un altro utente
	|fout|mislukt|ongeldig|ongeldige|onjuist|onjuiste|niet gevonden|geweigerd|niet beschikbaar|verlopen|misgegaan|geen toegang|is verplicht|verplicht veld|door iemand anders
	|błąd|nie udało się|nieprawidłowy|nieprawidłowe|nieprawidłowa|nie znaleziono|odmowa|niedostępny|wygasł|wygasła|konflikt|brak uprawnień|jest wymagane|jest wymagany|pole wymagane|przez kogoś innego|przez innego użytkownika
	|ошибка|ошибки|сбой|не удалось|неверный|неверная|неверное|неверно|неправильный|неправильно|не найден|не найдена|не найдено|отказано|запрещен|запрещён|запрещено|недоступен|недоступна|недоступно|недопустимо|недопустимый|недопустимое|недопустимая|недействителен|недействительно|истек|истекла|истекло|пошло не так|конфликт|другим пользователем|другим человеком|обязательное поле|обязательно для|кем-то другим|нет доступа|недостаточно прав|нет прав
	|خطأ|فشل|فشلت|تعذر|غير صالح|غير صالحة|غير صحيح|غير صحيحة|غير موجود|مرفوض|ممنوع|غير متاح|لا تملك|ليس لديك|انتهت صلاحية|تعارض|حقل مطلوب|هذا الحقل مطلوب|شخص آخر|مستخدم آخر
	|エラー|失敗|오류|실패|잘못된|잘못되었습니다|찾을 수 없습니다|거부되었습니다|권한이 없습니다|만료되었습니다|必須です|入力してください|필수 항목|필수입니다|他のユーザー|別のユーザー|다른 사용자|被其他使用者`

// Words of where people sign in, of passwords, of what they are greeted by, and of what is searched with.
var (
	passMore = entries(`passwort|kennwort|mot de passe|contraseña|senha|wachtwoord|hasło|пароль|كلمة المرور|كلمة السر|パスワード|비밀번호`)
	signMore = entries(`anmelden|anmeldung|einloggen|se connecter|connexion|iniciar sesión|inicio de sesión|iniciar sessão|accedi|inloggen|zaloguj|logowanie|войти|вход|دخول|تسجيل الدخول|ログイン|サインイン|로그인`)
	// What a page says to a person who has just signed in.
	greetMore  = entries(`willkommen|hallo|guten tag|guten morgen|bonjour|bonsoir|ravi de vous revoir|hola|olá|ciao|buongiorno|hoi|cześć|dzień dobry|здравствуйте|привет|bienvenue|bienvenido|bienvenida|bem-vindo|bem-vinda|benvenuto|benvenuta|welkom|witaj|witamy|добро пожаловать|с возвращением|أهلا|مرحبا|ようこそ|おかえり|환영합니다`)
	searchMore = entries(`suche|suchen|filtern|rechercher|recherche|buscar|búsqueda|pesquisar|cerca|zoeken|szukaj|поиск|найти|искать|بحث|検索|검색`)
)
