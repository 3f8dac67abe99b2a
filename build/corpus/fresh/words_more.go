package fresh

import "maps"

// moreLangs are languages with genders: adjectives and nouns are all feminine in French and Spanish, masculine in Russian.
var moreLangs = map[string]tongue{
	"fr": {
		adjectives: []string{"Grande", "Petite", "Vieille", "Belle", "Longue", "Haute", "Double", "Ancienne"},
		nouns:      []string{"lanterne", "échelle", "bouilloire", "pompe", "lampe", "valise", "brouette", "balance"},
		people:     []string{"Hélène Girard", "François Lemaître", "Maëlle Le Goff", "Benoît Chevallier", "Zoé d'Alençon"},
		cities:     []string{"Nîmes", "Besançon", "Saint-Étienne", "Angers", "Orléans"},
		columns:    []string{"À faire", "En cours", "En relecture", "Terminé"},
		states:     []string{"En attente", "Ouverte", "À traiter"},
		notes:      []string{"Merci de déposer le colis à l'arrière", "Appeler avant midi", "Attention, contenu fragile", "Deux exemplaires sont pour l'annexe"},
		words: map[string]string{
			"order": "commande", "customer": "Client", "item": "Article", "amount": "Montant", "city": "Ville", "note": "Remarque", "date": "Date de livraison", "urgent": "Urgent", "email": "Adresse e-mail", "phone": "Téléphone", "password": "Mot de passe", "user": "Identifiant", "card": "Numéro de carte", "key": "Clé d'API", "file": "Fichier", "priority": "Priorité", "low": "Basse", "normal": "Normale", "high": "Haute", "quantity": "Quantité",
			"create": "Créer la commande", "save": "Enregistrer les modifications", "delete": "Supprimer", "send": "Envoyer", "upload": "Importer", "publish": "Publier", "pay": "Payer maintenant", "approve": "Approuver", "signin": "Se connecter", "cancel": "Annuler", "yes": "Oui, supprimer", "no": "Conserver", "search": "Rechercher", "new": "Nouvelle commande",
			"said create": "La commande %s a bien été créée", "said save": "Les modifications de %s ont été enregistrées", "said delete": "%s a été supprimée", "said move": "%s a été déplacée", "said send": "Votre message a bien été envoyé à %s", "said upload": "Le fichier %s a été importé avec succès", "said publish": "L'article « %s » est maintenant en ligne", "said pay": "Nous avons bien reçu votre paiement pour %s", "said approve": "Demande %s approuvée", "said set": "%s : préférence mise à jour", "said sign_in": "Ravi de vous revoir",
			"409": "%s a été modifiée entre-temps par un autre utilisateur", "500": "Une erreur est survenue, veuillez réessayer plus tard", "401": "Identifiant ou mot de passe incorrect", "422": "%s n'est pas valide", "403": "Vous n'êtes pas autorisé à effectuer cette action",
			"offline": "Impossible de joindre le serveur", "needed": " : ce champ est obligatoire", "none": "Aucun résultat", "ask": "Voulez-vous vraiment supprimer % ?", "approved": "Approuvée",
			"title orders": "Commandes", "title profile": "Mon profil", "title board": "Tableau", "title settings": "Paramètres", "title login": "Connexion", "title home": "Vue d'ensemble", "title pay": "Paiement", "title requests": "Demandes", "title post": "Nouvel article", "title files": "Documents", "title search": "Catalogue", "title message": "Message", "title done": "Merci", "title history": "Historique",
			"set1": "Résumé hebdomadaire", "set2": "Mode sombre", "set3": "Validation en deux étapes", "set4": "Partager mes statistiques", "more": "Plus", "name": "Nom", "price": "Prix", "stock": "En stock", "updated": "Mis à jour le", "supplier": "Fournisseur", "details": "Détails", "status": "Statut",
		},
	},
	"es": {
		adjectives: []string{"Gran", "Pequeña", "Vieja", "Buena", "Antigua", "Larga", "Doble", "Ligera"},
		nouns:      []string{"linterna", "escalera", "tetera", "bomba", "lámpara", "maleta", "carretilla", "sombrilla"},
		people:     []string{"Begoña Ibáñez", "Íñigo Peña", "Lucía Fernández Rey", "Andrés Muñoz", "Rocío Cárdenas"},
		cities:     []string{"León", "Cádiz", "Logroño", "Málaga", "A Coruña"},
		columns:    []string{"Por hacer", "En curso", "En revisión", "Hecho"},
		states:     []string{"Pendiente", "En espera", "Abierta"},
		notes:      []string{"Dejar en la puerta de atrás", "Llamar antes del mediodía", "Frágil, manejar con cuidado", "Dos de ellas son para el anexo"},
		words: map[string]string{
			"order": "pedido", "customer": "Cliente", "item": "Artículo", "amount": "Importe", "city": "Ciudad", "note": "Observaciones", "date": "Fecha de entrega", "urgent": "Urgente", "email": "Correo electrónico", "phone": "Teléfono", "password": "Contraseña", "user": "Nombre de usuario", "card": "Número de tarjeta", "key": "Clave de API", "file": "Archivo", "priority": "Prioridad", "low": "Baja", "normal": "Normal", "high": "Alta", "quantity": "Cantidad",
			"create": "Crear pedido", "save": "Guardar cambios", "delete": "Eliminar", "send": "Enviar", "upload": "Subir", "publish": "Publicar", "pay": "Pagar ahora", "approve": "Aprobar", "signin": "Iniciar sesión", "cancel": "Cancelar", "yes": "Sí, eliminar", "no": "Conservar", "search": "Buscar", "new": "Nuevo pedido",
			"said create": "El pedido %s se ha creado correctamente", "said save": "Se han guardado los cambios de %s", "said delete": "Se ha eliminado %s", "said move": "%s se ha movido", "said send": "Mensaje enviado a %s", "said upload": "%s se ha subido con éxito", "said publish": "%s ya está publicado", "said pay": "Hemos recibido el pago de %s", "said approve": "La solicitud %s ha sido aprobada", "said set": "Se ha actualizado %s", "said sign_in": "Hola de nuevo",
			"409": "Otro usuario ha modificado %s", "500": "Algo ha ido mal, inténtalo de nuevo más tarde", "401": "El usuario o la contraseña no son correctos", "422": "%s no es válido", "403": "No tienes permiso para realizar esta acción",
			"offline": "No se ha podido conectar con el servidor", "needed": " es un campo obligatorio", "none": "No se han encontrado resultados", "ask": "¿Seguro que quieres eliminar %?", "approved": "Aprobada",
			"title orders": "Pedidos", "title profile": "Perfil", "title board": "Tablero", "title settings": "Configuración", "title login": "Acceso", "title home": "Resumen", "title pay": "Finalizar compra", "title requests": "Solicitudes", "title post": "Nueva entrada", "title files": "Documentos", "title search": "Catálogo", "title message": "Mensaje", "title done": "Gracias", "title history": "Historial",
			"set1": "Boletín semanal", "set2": "Modo oscuro", "set3": "Verificación en dos pasos", "set4": "Compartir datos de uso", "more": "Más", "name": "Nombre", "price": "Precio", "stock": "Existencias", "updated": "Última actualización", "supplier": "Proveedor", "details": "Detalles", "status": "Estado",
		},
	},
	"ru": {
		adjectives: []string{"Синий", "Тихий", "Северный", "Запасной", "Складной", "Тяжёлый", "Быстрый", "Янтарный"},
		nouns:      []string{"фонарь", "чайник", "насос", "зонт", "блокнот", "редуктор", "маяк", "ремень"},
		people:     []string{"Анна Соколова", "Пётр Щербаков", "Ольга Юрьевна Лебедева", "Тимур Галиев", "Семён Королёв"},
		cities:     []string{"Казань", "Тверь", "Омск", "Ярославль", "Орёл"},
		columns:    []string{"К выполнению", "В работе", "На проверке", "Готово"},
		states:     []string{"Ожидает", "На рассмотрении", "Открыт"},
		notes:      []string{"Оставьте у чёрного входа", "Позвонить до обеда", "Осторожно, хрупкое", "Две штуки — для филиала"},
		words: map[string]string{
			"order": "заказ", "customer": "Клиент", "item": "Товар", "amount": "Сумма", "city": "Город", "note": "Комментарий", "date": "Дата доставки", "urgent": "Срочно", "email": "Эл. почта", "phone": "Телефон", "password": "Пароль", "user": "Логин", "card": "Номер карты", "key": "API-ключ", "file": "Файл", "priority": "Приоритет", "low": "Низкий", "normal": "Обычный", "high": "Высокий", "quantity": "Количество",
			"create": "Оформить заказ", "save": "Сохранить изменения", "delete": "Удалить", "send": "Отправить", "upload": "Загрузить", "publish": "Опубликовать", "pay": "Оплатить", "approve": "Согласовать", "signin": "Войти", "cancel": "Отмена", "yes": "Да, удалить", "no": "Оставить", "search": "Найти", "new": "Новый заказ",
			"said create": "Заказ «%s» успешно оформлен", "said save": "Изменения сохранены: %s", "said delete": "%s удалён", "said move": "Карточка «%s» перемещена", "said send": "Сообщение пользователю %s отправлено", "said upload": "Файл %s загружен", "said publish": "Статья «%s» опубликована", "said pay": "Оплата прошла успешно: %s", "said approve": "Заявка «%s» согласована", "said set": "Настройка «%s» обновлена", "said sign_in": "С возвращением!",
			"409": "«%s» уже изменён другим пользователем", "500": "Что-то пошло не так. Попробуйте позже", "401": "Неверный логин или пароль", "422": "Недопустимое значение: %s", "403": "Недостаточно прав для этого действия",
			"offline": "Не удалось связаться с сервером", "needed": " — обязательное поле", "none": "Ничего не найдено", "ask": "Удалить «%»?", "approved": "Согласовано",
			"title orders": "Заказы", "title profile": "Профиль", "title board": "Доска", "title settings": "Настройки", "title login": "Вход", "title home": "Обзор", "title pay": "Оплата заказа", "title requests": "Заявки", "title post": "Новая статья", "title files": "Документы", "title search": "Каталог", "title message": "Сообщение", "title done": "Спасибо", "title history": "История",
			"set1": "Еженедельная сводка", "set2": "Тёмная тема", "set3": "Двухэтапная проверка", "set4": "Отправлять статистику использования", "more": "Ещё", "name": "Название", "price": "Цена", "stock": "В наличии", "updated": "Обновлено", "supplier": "Поставщик", "details": "Подробности", "status": "Статус",
		},
	},
}

func init() { maps.Copy(langs, moreLangs) }
