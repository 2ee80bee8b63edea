"""Questions and the notes that answer them, each about something else, by which a model's cosines are measured. Data.

Most answers share no word with their question. One group a language, since a model may find any two texts of one
language as alike as question and answer in another.
"""

# Language -> (question, answer).
PROBES: dict[str, tuple[tuple[str, str], ...]] = {
    "de": (
        ("wann schließt die Bibliothek am Freitag", "Öffnungszeiten: Mo-Do bis 20 Uhr, Fr bis 17:30, So zu."),
        ("welchen Reifendruck braucht der Bus", "Transporter: vorne 3,1 bar, hinten beladen 3,4."),
        ("wer repariert unsere Geige", "Der Meister in der Mühlgasse hat den Steg geleimt und den Stimmstock gesetzt."),
        ("was tun wenn der Drucker hängt", "cupsd anhalten, spool leeren, neu starten."),
        (
            "was sagte die Tierärztin zur Katze",
            "Untersuchung: Minka hat ein leichtes Herzgeräusch, Gewicht gut, in sechs Monaten wieder.",
        ),
        (
            "warum wurde das Konzert verschoben",
            "Der Chorabend wandert in den Mai, weil der Dirigent sich das Handgelenk brach.",
        ),
        ("wie lange muss der Teig ruhen", "48 Stunden kalt, dann zwei Stunden bei Zimmertemperatur."),
        (
            "warum ist der nächtliche Lauf abgebrochen",
            "Um 02:14 Schluss, die Platte des Rechners war voller Speicherabzüge.",
        ),
    ),
    "en": (
        (
            "when does the library close on Fridays",
            "Opening hours: Mon-Thu until 20:00, Fri until 17:30, closed on Sunday.",
        ),
        ("what tyre pressure does the van need", "Transporter: 3.1 bar in front, 3.4 bar at the back when loaded."),
        ("who repairs our violin", "The luthier in Mill Lane, Mr. Okafor, glued the bridge and reset the sound post."),
        (
            "how do I restart the print queue",
            "If pages get stuck, stop cupsd, clear /var/spool/cups and start it again.",
        ),
        ("which paint did we use in the hallway", "Walls by the stairs: eggshell finish, shade Oyster 12, two coats."),
        (
            "what did the vet say about the cat",
            "Check-up: Minka has a slight heart murmur, weight fine, come back in six months.",
        ),
        ("how much is the train season ticket", "Monthly pass for zones 2 and 3 went up to 94 euros in January."),
        ("where is the spare key for the boat", "Under the red life jacket in the stern locker there is a second set."),
        ("why was the concert postponed", "The choir evening moves to May since the conductor broke his wrist."),
        ("what is the wifi password policy", "Guest network credentials rotate on the first of each quarter."),
        (
            "which vaccine does Leo still need",
            "Pediatrician: everything done except the second measles shot in autumn.",
        ),
        ("how do we roll back a bad release", "Flip the traffic switch to the previous build, then revert the merge."),
        ("what should I plant next to the beans", "Marigold and savory keep aphids off the legumes; no onions nearby."),
        ("who approved the travel budget", "Finance sign-off for the Lisbon trip came from Henrike on Tuesday."),
        (
            "how long does the dough have to rest",
            "Pizza base: prove for 48 hours in the fridge, then two hours at room temperature.",
        ),
        ("why did the nightly job fail", "Cron run aborted at 02:14, the disk of the worker was full of core dumps."),
    ),
    "es": (
        (
            "a qué hora cierra la biblioteca el viernes",
            "Horario: lun-jue hasta las 20, vie hasta las 17:30, domingo cerrado.",
        ),
        ("qué presión llevan las ruedas de la furgoneta", "Vehículo: 3,1 bar delante, 3,4 detrás con carga."),
        ("quién arregla nuestro violín", "El artesano de la calle del Molino pegó el puente y recolocó el alma."),
        ("qué hacer si se atasca la impresora", "Parar cupsd, vaciar el spool y volver a arrancar."),
        ("qué dijo la veterinaria de la gata", "Revisión: Minka tiene un soplo leve, peso bien, volver en seis meses."),
        ("por qué se aplazó el concierto", "La velada coral pasa a mayo porque el director se rompió la muñeca."),
        ("cuánto reposa la masa", "48 horas en frío y luego dos a temperatura ambiente."),
        ("por qué falló la tarea nocturna", "Se cortó a las 02:14, el disco del nodo estaba lleno de volcados."),
    ),
    "ja": (
        ("図書館は金曜日何時に閉まりますか", "開館時間：月曜から木曜は20時まで、金曜は17時半まで、日曜休み。"),
        ("バンのタイヤの空気圧はいくつ", "商用車は前輪3.1、満載時の後輪は3.4。"),
        ("バイオリンはどこで直した", "粉ひき小路の職人さんが駒を接着して魂柱を立て直した。"),
        ("プリンターが詰まったらどうする", "cupsdを止めてspoolを空にしてから起動し直す。"),
        ("獣医は猫について何と言った", "健診：ミーシャは軽い心雑音、体重は問題なし、半年後に再診。"),
        ("コンサートはなぜ延期になった", "指揮者が手首を骨折したので合唱の夕べは五月に。"),
        ("ピザ生地はどれくらい寝かせる", "冷蔵庫で48時間、そのあと室温で二時間。"),
        ("夜間ジョブはなぜ落ちた", "02時14分に中断、ワーカーのディスクがコアダンプで満杯だった。"),
    ),
    "ko": (
        ("도서관은 금요일 몇 시에 닫나요", "운영 시간: 월~목 20시까지, 금요일 17시 반까지, 일요일 휴관."),
        ("승합차 타이어 공기압은 얼마", "화물차 앞바퀴 3.1, 짐 실었을 때 뒷바퀴 3.4."),
        ("바이올린은 어디서 고쳤지", "물레방아 골목 장인이 브리지를 붙이고 사운드포스트를 다시 세웠다."),
        ("프린터 대기열이 막히면 어떻게", "cupsd를 멈추고 spool을 비운 다음 다시 시작."),
        ("수의사가 고양이에 대해 뭐라고 했지", "검진: 미카는 가벼운 심잡음, 체중 정상, 반년 뒤 재검."),
        ("음악회는 왜 연기됐나", "지휘자가 손목이 부러져 합창의 밤은 오월로."),
        ("피자 반죽은 얼마나 숙성", "냉장 48시간, 그다음 실온에서 두 시간."),
        ("야간 작업이 왜 실패했지", "02시 14분 중단, 워커 디스크가 코어 덤프로 가득 참."),
    ),
    "ru": (
        ("во сколько в пятницу закрывается библиотека", "Часы работы: пн-чт до 20:00, пт до 17:30, вс выходной."),
        ("какое давление в шинах фургона", "Грузовой: спереди 3,1, сзади с грузом 3,4 бара."),
        ("кто чинит нашу скрипку", "Мастер с Мельничной улицы приклеил подставку и переставил душку."),
        ("что делать если застряла печать", "Остановить cupsd, очистить spool и запустить снова."),
        ("что сказал ветеринар про кошку", "Осмотр: у Минки лёгкий шум в сердце, вес в норме, через полгода снова."),
        ("почему перенесли концерт", "Хоровой вечер переехал на май, дирижёр сломал запястье."),
        ("сколько должно отдыхать тесто", "Сначала 48 часов в холодильнике, затем два часа в тепле."),
        ("почему упала ночная задача", "Прервалась в 02:14, диск рабочего узла забит дампами."),
    ),
    "zh": (
        ("图书馆周五几点关门", "开放时间：周一至周四到晚上八点，周五到五点半，周日不开。"),
        ("面包车轮胎要打多少气", "商务车前轮3.1，后轮满载时3.4。"),
        ("小提琴在哪里修", "磨坊巷的制琴师傅给琴马重新上了胶，还调了音柱。"),
        ("打印任务卡住了怎么办", "停掉cupsd，清空spool目录，再启动服务。"),
        ("走廊墙面用的是什么颜色", "楼梯旁刷了两遍蛋壳漆，色号牡蛎12。"),
        ("兽医怎么说我们的猫", "体检：米卡心脏有轻微杂音，体重正常，半年后复查。"),
        ("地铁月票涨了吗", "二区和三区的通勤卡从一月起改为94元。"),
        ("船上的备用钥匙放哪了", "船尾储物箱里红色救生衣下面还有一把。"),
        ("音乐会为什么改期", "指挥手腕骨折，合唱之夜推迟到五月。"),
        ("访客网络多久换一次密码", "每季度第一天更新来宾WiFi的口令。"),
        ("乐乐还差哪一针疫苗", "儿科：只剩秋天的第二剂麻疹。"),
        ("上线出问题怎么退回去", "把流量切到前一个构建，再还原那次合并。"),
        ("豆角旁边适合种什么", "万寿菊可以驱蚜虫，附近不要种洋葱。"),
        ("出差预算是谁批的", "里斯本之行的费用周二由韩丽签字同意。"),
        ("披萨面团要发多久", "先冷藏48小时，再在室温放两小时。"),
        ("昨晚的定时任务怎么挂了", "凌晨两点一刻中断，工作节点磁盘被core文件占满。"),
    ),
}
