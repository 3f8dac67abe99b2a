package fresh

type tongue struct {
	adjectives, nouns, people, cities, columns, states, notes []string
	words                                                     map[string]string
}

// said are the messages after a verb, %s the object.
var langs = map[string]tongue{
	"en": {
		adjectives: []string{"Blue", "Quiet", "Northern", "Spare", "Folding", "Heavy", "Rapid", "Amber", "Hollow", "Twin"},
		nouns:      []string{"lantern", "ladder", "kettle", "gearbox", "parasol", "notebook", "harness", "pump", "trolley", "beacon"},
		people:     []string{"Ines Albrecht", "Tomas Okafor", "Priya Raman", "Lena Fjord", "Marek Dvorak", "Aoife Byrne"},
		cities:     []string{"Leeds", "Porto", "Lyon", "Gdansk", "Cork", "Turin"},
		columns:    []string{"Backlog", "Doing", "Review", "Done"},
		states:     []string{"Pending", "Waiting", "Open"},
		notes:      []string{"Leave it at the back gate", "Call before noon", "Two of them are for the annex", "Handle with care please"},
		words: map[string]string{
			"order": "order", "customer": "Customer", "item": "Item", "amount": "Amount", "city": "City", "note": "Note", "date": "Delivery date", "urgent": "Urgent", "email": "Email", "phone": "Phone", "password": "Password", "user": "User name", "card": "Card number", "key": "API key", "file": "Document", "priority": "Priority", "low": "Low", "normal": "Normal", "high": "High", "quantity": "Quantity",
			"create": "Create order", "save": "Save changes", "delete": "Delete", "send": "Send", "upload": "Upload", "publish": "Publish", "pay": "Pay now", "approve": "Approve", "signin": "Sign in", "cancel": "Cancel", "yes": "Yes, delete", "no": "Keep it", "search": "Search", "new": "New order",
			"said create": "Order %s was created", "said save": "Changes to %s saved", "said delete": "%s was deleted", "said move": "%s moved", "said send": "Message to %s sent", "said upload": "%s was uploaded", "said publish": "%s published", "said pay": "Payment for %s received", "said approve": "%s was approved", "said set": "%s updated", "said sign_in": "Welcome back",
			"409": "%s was changed by another user", "500": "Something went wrong on our side", "401": "Wrong user name or password", "422": "%s is not valid", "403": "You may not do this",
			"offline": "The server could not be reached", "needed": " is required", "none": "No results", "ask": "Delete %?", "approved": "Approved",
			"title orders": "Orders", "title profile": "Profile", "title board": "Board", "title settings": "Settings", "title login": "Sign in", "title home": "Overview", "title pay": "Checkout", "title requests": "Requests", "title post": "New article", "title files": "Documents", "title search": "Catalogue", "title message": "Message", "title done": "Thank you", "title history": "History",
			"set1": "Weekly digest", "set2": "Dark mode", "set3": "Two-step check", "set4": "Share usage data", "more": "More", "name": "Name", "price": "Price", "stock": "In stock", "updated": "Updated", "supplier": "Supplier", "details": "Details", "status": "Status",
		},
	},
	"zh": {
		adjectives: []string{"蓝色", "静音", "北方", "备用", "折叠", "重型", "快速", "琥珀", "空心", "双联"},
		nouns:      []string{"灯笼", "梯子", "水壶", "变速箱", "阳伞", "笔记本", "安全带", "水泵", "推车", "信标"},
		people:     []string{"林晓峰", "周雅琴", "郑国栋", "何思远", "蒋梦洁", "沈立群"},
		cities:     []string{"苏州", "厦门", "长沙", "烟台", "贵阳", "洛阳"},
		columns:    []string{"待办", "进行中", "审核", "完成"},
		states:     []string{"待处理", "等待中", "未审"},
		notes:      []string{"请放在后门", "中午之前打电话", "其中两个给分部", "请轻拿轻放"},
		words: map[string]string{
			"order": "订单", "customer": "客户", "item": "商品", "amount": "金额", "city": "城市", "note": "备注", "date": "交货日期", "urgent": "加急", "email": "邮箱", "phone": "电话", "password": "密码", "user": "用户名", "card": "卡号", "key": "接口密钥", "file": "文件", "priority": "优先级", "low": "低", "normal": "普通", "high": "高", "quantity": "数量",
			"create": "新建订单", "save": "保存修改", "delete": "删除", "send": "发送", "upload": "上传", "publish": "发布", "pay": "立即支付", "approve": "批准", "signin": "登录", "cancel": "取消", "yes": "确认删除", "no": "保留", "search": "搜索", "new": "添加订单",
			"said create": "订单%s已创建", "said save": "%s的修改已保存", "said delete": "%s已删除", "said move": "%s已移动", "said send": "发给%s的消息已发送", "said upload": "%s已上传", "said publish": "%s已发布", "said pay": "%s已支付", "said approve": "%s已批准", "said set": "%s已更新", "said sign_in": "欢迎回来",
			"409": "%s已被他人修改", "500": "系统出错了", "401": "用户名或密码错误", "422": "%s无效", "403": "您没有权限",
			"offline": "无法连接服务器", "needed": "不能为空", "none": "没有结果", "ask": "删除%吗？", "approved": "已批准",
			"title orders": "订单", "title profile": "个人资料", "title board": "看板", "title settings": "设置", "title login": "登录", "title home": "概览", "title pay": "结账", "title requests": "申请", "title post": "新文章", "title files": "文档", "title search": "目录", "title message": "消息", "title done": "谢谢", "title history": "历史",
			"set1": "每周摘要", "set2": "深色模式", "set3": "两步验证", "set4": "共享使用数据", "more": "更多", "name": "名称", "price": "价格", "stock": "库存", "updated": "更新日期", "supplier": "供应商", "details": "详情", "status": "状态",
		},
	},
	"de": {
		adjectives: []string{"Blaue", "Leise", "Starke", "Kleine", "Schnelle", "Runde", "Leichte", "Alte"},
		nouns:      []string{"Laterne", "Leiter", "Kanne", "Pumpe", "Karre", "Lampe", "Kiste", "Schraube"},
		people:     []string{"Jürgen Weiß", "Anke Möller", "Sören Groß", "Heike Brückner"},
		cities:     []string{"Köln", "Görlitz", "Fürth", "Gießen"},
		columns:    []string{"Offen", "In Arbeit", "Prüfung", "Fertig"},
		states:     []string{"Wartet", "Ungeprüft"},
		notes:      []string{"Bitte am Hintereingang abgeben", "Vor zwölf anrufen", "Vorsicht, zerbrechlich"},
		words: map[string]string{
			"order": "Bestellung", "customer": "Kunde", "item": "Artikel", "amount": "Betrag", "city": "Ort", "note": "Bemerkung", "date": "Liefertermin", "urgent": "Eilig", "email": "E-Mail", "phone": "Telefon", "password": "Passwort", "user": "Benutzername", "card": "Kartennummer", "key": "API-Schlüssel", "file": "Dokument", "priority": "Priorität", "low": "Niedrig", "normal": "Normal", "high": "Hoch", "quantity": "Menge",
			"create": "Bestellung anlegen", "save": "Änderungen speichern", "delete": "Löschen", "send": "Senden", "upload": "Hochladen", "publish": "Veröffentlichen", "pay": "Jetzt bezahlen", "approve": "Genehmigen", "signin": "Anmelden", "cancel": "Abbrechen", "yes": "Ja, löschen", "no": "Behalten", "search": "Suchen", "new": "Neue Bestellung",
			"said create": "Bestellung %s wurde angelegt", "said save": "Änderungen an %s gespeichert", "said delete": "%s wurde gelöscht", "said move": "%s verschoben", "said send": "Nachricht an %s gesendet", "said upload": "%s wurde hochgeladen", "said publish": "%s veröffentlicht", "said pay": "Zahlung für %s eingegangen", "said approve": "%s wurde genehmigt", "said set": "%s aktualisiert", "said sign_in": "Willkommen zurück",
			"409": "%s wurde inzwischen geändert", "500": "Bei uns ist etwas schiefgegangen", "401": "Benutzername oder Passwort falsch", "422": "%s ist ungültig", "403": "Keine Berechtigung",
			"offline": "Der Server ist nicht erreichbar", "needed": " fehlt", "none": "Keine Treffer", "ask": "% löschen?", "approved": "Genehmigt",
			"title orders": "Bestellungen", "title profile": "Profil", "title board": "Tafel", "title settings": "Einstellungen", "title login": "Anmeldung", "title home": "Übersicht", "title pay": "Kasse", "title requests": "Anträge", "title post": "Neuer Artikel", "title files": "Dokumente", "title search": "Katalog", "title message": "Nachricht", "title done": "Danke", "title history": "Verlauf",
			"set1": "Wochenbericht", "set2": "Dunkler Modus", "set3": "Zweite Prüfung", "set4": "Nutzungsdaten teilen", "more": "Mehr", "name": "Name", "price": "Preis", "stock": "Bestand", "updated": "Stand", "supplier": "Lieferant", "details": "Einzelheiten", "status": "Status",
		},
	},
	"ar": {
		adjectives: []string{"الأزرق", "الهادئ", "السريع", "الثقيل", "الصغير", "القديم"},
		nouns:      []string{"مصباح", "سلم", "إبريق", "مضخة", "دفتر", "صندوق"},
		people:     []string{"سارة الخطيب", "يوسف حداد", "ليلى منصور", "كريم عبود"},
		cities:     []string{"عمان", "تونس", "مسقط", "الرباط"},
		columns:    []string{"قائمة", "جار", "مراجعة", "منجز"},
		states:     []string{"معلق", "مفتوح"},
		notes:      []string{"اتركه عند الباب الخلفي", "اتصل قبل الظهر"},
		words: map[string]string{
			"order": "طلب", "customer": "العميل", "item": "الصنف", "amount": "المبلغ", "city": "المدينة", "note": "ملاحظة", "date": "تاريخ التسليم", "urgent": "عاجل", "email": "البريد", "phone": "الهاتف", "password": "كلمة المرور", "user": "اسم المستخدم", "card": "رقم البطاقة", "key": "مفتاح الواجهة", "file": "مستند", "priority": "الأولوية", "low": "منخفضة", "normal": "عادية", "high": "عالية", "quantity": "الكمية",
			"create": "إنشاء طلب", "save": "حفظ", "delete": "حذف", "send": "إرسال", "upload": "رفع", "publish": "نشر", "pay": "ادفع الآن", "approve": "موافقة", "signin": "دخول", "cancel": "إلغاء", "yes": "نعم احذف", "no": "احتفظ به", "search": "بحث", "new": "طلب جديد",
			"said create": "تم إنشاء %s", "said save": "تم حفظ %s", "said delete": "تم حذف %s", "said move": "تم نقل %s", "said send": "تم إرسال رسالة إلى %s", "said upload": "تم رفع %s", "said publish": "تم نشر %s", "said pay": "تم دفع %s", "said approve": "تمت الموافقة على %s", "said set": "تم تحديث %s", "said sign_in": "أهلا بعودتك",
			"409": "تم تعديل %s من شخص آخر", "500": "حدث خطأ لدينا", "401": "اسم المستخدم أو كلمة المرور خطأ", "422": "%s غير صالح", "403": "لا تملك الصلاحية",
			"offline": "تعذر الوصول إلى الخادم", "needed": " مطلوب", "none": "لا نتائج", "ask": "حذف %؟", "approved": "تمت الموافقة",
			"title orders": "الطلبات", "title profile": "الملف", "title board": "اللوحة", "title settings": "الإعدادات", "title login": "تسجيل الدخول", "title home": "نظرة عامة", "title pay": "الدفع", "title requests": "الطلبات المعلقة", "title post": "مقال جديد", "title files": "المستندات", "title search": "الفهرس", "title message": "رسالة", "title done": "شكرا", "title history": "السجل",
			"set1": "ملخص أسبوعي", "set2": "الوضع الداكن", "set3": "تحقق بخطوتين", "set4": "مشاركة البيانات", "more": "المزيد", "name": "الاسم", "price": "السعر", "stock": "المخزون", "updated": "آخر تحديث", "supplier": "المورد", "details": "التفاصيل", "status": "الحالة",
		},
	},
}

// expectations are what agents write that they expect, %s the object: English and Chinese, either word order.
var expectations = map[string][]string{
	Create:  {"Order %s is created", "A new order %s exists", "The list of orders has %s", "订单%s已创建", "新建了订单%s"},
	Save:    {"The changes to %s are saved", "Saved changes of %s", "%s的修改已保存", "保存了%s的修改"},
	Delete:  {"%s is deleted", "Deleted %s", "%s is gone", "%s已删除", "已删除%s"},
	Move:    {"%s is in %t", "Moved %s to %t", "%s已移到%t", "把%s移动到%t"},
	Send:    {"The message to %s is sent", "Sent a message to %s", "发给%s的消息已发送", "已向%s发送消息"},
	Upload:  {"%s is uploaded", "Uploaded %s", "%s已上传", "已上传%s"},
	Publish: {"%s is published", "Published %s", "%s已发布", "已发布%s"},
	Pay:     {"%s is paid", "Payment for %s received", "%s已支付", "已支付%s"},
	Approve: {"%s is approved", "Approved %s", "%s已批准", "已批准%s"},
	Set:     {"%s is on", "%s is turned on", "%s已开启", "已打开%s"},
	SignIn:  {"Signed in", "已登录"},
}
