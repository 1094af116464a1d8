BEGIN TRANSACTION;
CREATE TABLE aid_requests (
    id TEXT PRIMARY KEY,
    assignment TEXT NOT NULL UNIQUE REFERENCES presentations (assignment),
    requested_at_utc TEXT,
    received_at_utc TEXT NOT NULL
) STRICT;
CREATE TABLE aids (
    case_id INTEGER PRIMARY KEY REFERENCES cases (id),
    answer TEXT CHECK (answer BETWEEN 'A' AND 'H' AND length(answer) = 1),
    confidence REAL CHECK (confidence BETWEEN 0 AND 1),
    explanation TEXT NOT NULL,
    boxes TEXT NOT NULL CHECK (json_valid(boxes)),
    map TEXT NOT NULL CHECK (json_valid(map)),
    planted INTEGER NOT NULL CHECK (planted IN (0, 1)),
    CHECK (planted = 0 OR answer IS NOT NULL)
) STRICT;
CREATE TABLE amendments (
    id INTEGER PRIMARY KEY,
    study INTEGER NOT NULL REFERENCES studies (id),
    number INTEGER NOT NULL CHECK (number > 0),
    changes TEXT NOT NULL CHECK (json_valid(changes)),
    reason TEXT NOT NULL CHECK (reason <> ''),
    actor TEXT NOT NULL,
    at_utc TEXT NOT NULL,
    UNIQUE (study, number)
) STRICT;
CREATE TABLE assignments (
    id TEXT PRIMARY KEY,
    reader INTEGER NOT NULL REFERENCES readers (id),
    case_id INTEGER NOT NULL REFERENCES cases (id),
    condition TEXT NOT NULL,
    session INTEGER NOT NULL CHECK (session > 0),
    repeat INTEGER NOT NULL CHECK (repeat > 0),
    position INTEGER NOT NULL CHECK (position > 0),
    shown_order TEXT NOT NULL,
    block INTEGER CHECK (block >= 0),
    stage INTEGER NOT NULL DEFAULT 0 CHECK (stage IN (0, 1, 2)),
    aid TEXT NOT NULL DEFAULT '' CHECK (aid IN ('', 'first', 'on demand', 'after')),
    CHECK ((stage = 0) = (aid <> 'after')),
    UNIQUE (reader, case_id, condition, repeat),
    UNIQUE (reader, position, stage)
) STRICT;
INSERT INTO "assignments" VALUES('69b185fd9941634049afd92d',1,3,'unaided',1,1,1,'ABCD',NULL,0,'');
INSERT INTO "assignments" VALUES('0ef070103cd5f8a72ef2e21a',1,2,'unaided',1,1,2,'BADC',NULL,0,'');
INSERT INTO "assignments" VALUES('c938fc2adca9cb5f569f8581',1,8,'unaided',1,1,3,'BADC',NULL,0,'');
INSERT INTO "assignments" VALUES('6ca9a976b31700a6d5afadae',1,6,'unaided',1,1,4,'ADCB',NULL,0,'');
INSERT INTO "assignments" VALUES('90dd0d9368d25466936ea685',1,1,'unaided',1,1,5,'DABC',NULL,0,'');
INSERT INTO "assignments" VALUES('7c99edb7d2f8b4a69d32f927',1,4,'unaided',1,1,6,'BACD',NULL,0,'');
INSERT INTO "assignments" VALUES('479531004b2c8738c4beaea8',1,7,'unaided',1,1,7,'DBCA',NULL,0,'');
INSERT INTO "assignments" VALUES('74cf1ee8df68ff77e0be1c25',1,3,'unaided',1,2,8,'CDBA',NULL,0,'');
INSERT INTO "assignments" VALUES('b6ea3afff824bc540f130222',1,5,'unaided',1,1,9,'ABDC',NULL,0,'');
INSERT INTO "assignments" VALUES('a9e8e645a1de1f11e7d701b4',1,2,'unaided',1,2,10,'DABC',NULL,0,'');
INSERT INTO "assignments" VALUES('eb5d36b4b352d7f10c77f76a',1,4,'image-absent',1,1,11,'DABC',NULL,0,'');
INSERT INTO "assignments" VALUES('ec288c585f1042da1a373ff2',1,6,'image-absent',1,1,12,'BADC',NULL,0,'');
INSERT INTO "assignments" VALUES('b3ed8547a84c554232c71c9a',1,1,'image-absent',1,1,13,'BCAD',NULL,0,'');
INSERT INTO "assignments" VALUES('c25acd0198d9a2b69d069728',1,5,'image-absent',1,1,14,'CADB',NULL,0,'');
INSERT INTO "assignments" VALUES('1ad3cfe7ad04c9caac086767',1,8,'image-absent',1,1,15,'ADBC',NULL,0,'');
INSERT INTO "assignments" VALUES('453e25133d0d80ad73531b93',1,5,'image-absent',1,2,16,'ADCB',NULL,0,'');
INSERT INTO "assignments" VALUES('fe4c9dd0c8b5f4eae5d4dd52',1,3,'image-absent',1,1,17,'DCAB',NULL,0,'');
INSERT INTO "assignments" VALUES('9513a242aabe204df0aff347',1,2,'image-absent',1,1,18,'BCDA',NULL,0,'');
INSERT INTO "assignments" VALUES('462e002712c800f6b003dea8',1,6,'image-absent',1,2,19,'ADCB',NULL,0,'');
INSERT INTO "assignments" VALUES('1cc927e8b61c6bea0c1d1527',1,7,'image-absent',1,1,20,'BACD',NULL,0,'');
INSERT INTO "assignments" VALUES('2dd82f2d0190a81d1bd60106',2,6,'image-absent',1,1,1,'ACBD',NULL,0,'');
INSERT INTO "assignments" VALUES('e65c00ff79f25bd0c97df065',2,2,'image-absent',1,1,2,'BCDA',NULL,0,'');
INSERT INTO "assignments" VALUES('1753a955918afa51fa32ee38',2,1,'image-absent',1,1,3,'DCAB',NULL,0,'');
INSERT INTO "assignments" VALUES('63dd848e39744060fa2cf08f',2,3,'image-absent',1,1,4,'BACD',NULL,0,'');
INSERT INTO "assignments" VALUES('6abd63398ccf1563c72a9745',2,6,'image-absent',1,2,5,'CABD',NULL,0,'');
INSERT INTO "assignments" VALUES('2896626f0e7281f9e55eeca6',2,2,'image-absent',1,2,6,'BACD',NULL,0,'');
INSERT INTO "assignments" VALUES('b5bb0172c17d059a70f77e34',2,8,'image-absent',1,1,7,'ABDC',NULL,0,'');
INSERT INTO "assignments" VALUES('4cc08e1af0c989c3de7b666f',2,4,'image-absent',1,1,8,'CBAD',NULL,0,'');
INSERT INTO "assignments" VALUES('0aeba5a7269dc2ec3dd3f0c1',2,7,'image-absent',1,1,9,'BCAD',NULL,0,'');
INSERT INTO "assignments" VALUES('045dd3afcaa86f27e00727aa',2,5,'image-absent',1,1,10,'CABD',NULL,0,'');
INSERT INTO "assignments" VALUES('20aecef246fcf46e7e61d211',2,8,'unaided',1,1,11,'ABDC',NULL,0,'');
INSERT INTO "assignments" VALUES('23ecbba3be40c8a250321b36',2,6,'unaided',1,1,12,'CBAD',NULL,0,'');
INSERT INTO "assignments" VALUES('8f45af334c096213d9ce7940',2,3,'unaided',1,1,13,'DBAC',NULL,0,'');
INSERT INTO "assignments" VALUES('c39aefacd7c39f6288b1c432',2,5,'unaided',1,1,14,'BDAC',NULL,0,'');
INSERT INTO "assignments" VALUES('38c4e8a38766f978b8ac013b',2,1,'unaided',1,1,15,'BDCA',NULL,0,'');
INSERT INTO "assignments" VALUES('0cdaf102f5157d618a0cc36f',2,8,'unaided',1,2,16,'CABD',NULL,0,'');
INSERT INTO "assignments" VALUES('90d90ebcc9d2934d29972ab8',2,2,'unaided',1,1,17,'DBAC',NULL,0,'');
INSERT INTO "assignments" VALUES('a4e65889f00e7a3f8d82bee0',2,5,'unaided',1,2,18,'ADBC',NULL,0,'');
INSERT INTO "assignments" VALUES('8cfdd38468538b465b29e1fa',2,7,'unaided',1,1,19,'BADC',NULL,0,'');
INSERT INTO "assignments" VALUES('e1fb60e76a63a00d212d3623',2,4,'unaided',1,1,20,'ACBD',NULL,0,'');
INSERT INTO "assignments" VALUES('db0bea5155f4257ba2386987',3,1,'unaided',1,1,1,'DCAB',NULL,0,'');
INSERT INTO "assignments" VALUES('f1fe1986f60b7f472e3e2ce8',3,7,'unaided',1,1,2,'BACD',NULL,0,'');
INSERT INTO "assignments" VALUES('d22521d71acc7906931a9827',3,3,'unaided',1,1,3,'DABC',NULL,0,'');
INSERT INTO "assignments" VALUES('c0f61706a9a96e2a8919755e',3,6,'unaided',1,1,4,'CABD',NULL,0,'');
INSERT INTO "assignments" VALUES('b72901272c16f0b7d2b0890a',3,2,'unaided',1,1,5,'CBAD',NULL,0,'');
INSERT INTO "assignments" VALUES('e10fd2eeb5d83348752787a9',3,1,'unaided',1,2,6,'CBAD',NULL,0,'');
INSERT INTO "assignments" VALUES('be4d722242dc491515e7b6ad',3,6,'unaided',1,2,7,'DCBA',NULL,0,'');
INSERT INTO "assignments" VALUES('38676ef36887910058284b2f',3,4,'unaided',1,1,8,'CABD',NULL,0,'');
INSERT INTO "assignments" VALUES('17a577209e0cac4ae9aca772',3,5,'unaided',1,1,9,'CBAD',NULL,0,'');
INSERT INTO "assignments" VALUES('3bd72224ab0f22e80dc76e26',3,8,'unaided',1,1,10,'CDBA',NULL,0,'');
INSERT INTO "assignments" VALUES('ad16dc9ab9fb32ef8624daba',3,4,'image-absent',1,1,11,'DACB',NULL,0,'');
INSERT INTO "assignments" VALUES('0a78ba39d44dd985ef4c2c54',3,1,'image-absent',1,1,12,'DACB',NULL,0,'');
INSERT INTO "assignments" VALUES('803ada5cbe79319ee5cfb90f',3,7,'image-absent',1,1,13,'ABCD',NULL,0,'');
INSERT INTO "assignments" VALUES('4f702ff800c77a33356e1169',3,8,'image-absent',1,1,14,'DBCA',NULL,0,'');
INSERT INTO "assignments" VALUES('3ff29d1208727ae356270fe5',3,2,'image-absent',1,1,15,'BACD',NULL,0,'');
INSERT INTO "assignments" VALUES('49d8360a8852c7773c256d54',3,6,'image-absent',1,1,16,'DCAB',NULL,0,'');
INSERT INTO "assignments" VALUES('4fcdde5ef66a29fb5b12b549',3,4,'image-absent',1,2,17,'BCAD',NULL,0,'');
INSERT INTO "assignments" VALUES('7b33475500fec73d04f54e6f',3,1,'image-absent',1,2,18,'BDAC',NULL,0,'');
INSERT INTO "assignments" VALUES('b8841e3f3c9887dc14016dcf',3,3,'image-absent',1,1,19,'BCDA',NULL,0,'');
INSERT INTO "assignments" VALUES('5a17fa950cad7d090c537062',3,5,'image-absent',1,1,20,'CBDA',NULL,0,'');
CREATE TABLE backups (
    id INTEGER PRIMARY KEY,
    file TEXT NOT NULL UNIQUE,
    made_at_utc TEXT NOT NULL,
    trigger TEXT NOT NULL CHECK (trigger IN ('schedule', 'hand')),
    actor TEXT NOT NULL,
    n_bytes INTEGER NOT NULL CHECK (n_bytes > 0),
    sha256 TEXT NOT NULL,
    verified_at_utc TEXT,
    finding TEXT NOT NULL,
    removed_at_utc TEXT
) STRICT;
CREATE TABLE banks (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE CHECK (name <> ''),
    format TEXT NOT NULL,
    source_name TEXT NOT NULL,
    source_sha256 TEXT NOT NULL,
    content_sha256 TEXT NOT NULL,
    images_root TEXT NOT NULL,
    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
    imported_at_utc TEXT NOT NULL,
    version TEXT NOT NULL DEFAULT '',
    licence TEXT NOT NULL DEFAULT '',
    source_url TEXT NOT NULL DEFAULT '',
    citation TEXT NOT NULL DEFAULT ''
) STRICT;
INSERT INTO "banks" VALUES(1,'bank','rexvqa','bank.json','5b4e0650ae0fed0be694299d2c8282d8b9a2246652cab8673d3822f67bab5a0e','f147d217581173ab62f492c3c32f0a7185b9a1b8e4539f5cd54e0979ace3d1e0','/reading-room/images',0,'2025-06-04T12:00:00.000Z','','','','');
CREATE TABLE cases (
    id INTEGER PRIMARY KEY,
    study INTEGER NOT NULL REFERENCES studies (id),
    item INTEGER NOT NULL REFERENCES items (id),
    number INTEGER NOT NULL CHECK (number > 0),
    stratum TEXT NOT NULL,
    UNIQUE (study, item),
    UNIQUE (study, number)
) STRICT;
INSERT INTO "cases" VALUES(1,1,11,1,'Presence Assessment');
INSERT INTO "cases" VALUES(2,1,20,2,'Geometric Information Assessment');
INSERT INTO "cases" VALUES(3,1,21,3,'Presence Assessment');
INSERT INTO "cases" VALUES(4,1,2,4,'Negation Assessment');
INSERT INTO "cases" VALUES(5,1,24,5,'Location and Distribution Assessment');
INSERT INTO "cases" VALUES(6,1,17,6,'Negation Assessment');
INSERT INTO "cases" VALUES(7,1,19,7,'Location and Distribution Assessment');
INSERT INTO "cases" VALUES(8,1,3,8,'Differential Diagnosis');
CREATE TABLE chain_heads (
    chain TEXT PRIMARY KEY,
    number INTEGER NOT NULL,
    hash TEXT NOT NULL,
    told_as TEXT NOT NULL DEFAULT ''
) STRICT;
INSERT INTO "chain_heads" VALUES('deployment',2,'d607386d917f157f4866f498a87e47d1a2544f480a3614d1f3189fe9da996307','');
INSERT INTO "chain_heads" VALUES('study:trial',135,'2179aa14f544a68af3142e4b35300eafffabe49b70b9c6e161d21be4e817ae9b','');
CREATE TABLE codes (
    person INTEGER PRIMARY KEY REFERENCES people (id),
    lookup TEXT NOT NULL UNIQUE,
    salt TEXT NOT NULL,
    code_hash TEXT NOT NULL,
    issued_at_utc TEXT NOT NULL,
    expires_at_utc TEXT,
    failures INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0)
) STRICT;
INSERT INTO "codes" VALUES(1,'TN41XX','16ffb1e945dd2f58e45e583a6af1bf16','123094726bf02b1718ec07cab893436441ab1e4e21d8ee56164a4aef248811e1','2025-06-04T12:00:00.000Z',NULL,0);
INSERT INTO "codes" VALUES(2,'677045','15215d8843a3e44bd3450baef97f3a56','dca61b1a4cd205d6817afe10c58a62f7162446161947f3aa0d39f1f38a9058b9','2025-06-04T12:00:00.000Z',NULL,0);
INSERT INTO "codes" VALUES(3,'6GDNCW','d886752551a0fb46a7e45c3812789d8b','ad667a45edf934da5b160bc84b5cf864af1f7827030fd54c284215a417fecc8f','2025-06-04T12:00:00.000Z',NULL,0);
CREATE TABLE column_names (
    columns TEXT PRIMARY KEY CHECK (json_valid(columns)),
    meant TEXT NOT NULL CHECK (json_valid(meant)),
    at_utc TEXT NOT NULL
) STRICT;
CREATE TABLE deployment (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;
INSERT INTO "deployment" VALUES('secret','ffe42279f3bd068366a852c1bb9651f3cd18ec08f6a4e724d26facd2aeb0daf2');
INSERT INTO "deployment" VALUES('deployment_id','a972cd3fa02fd44f');
CREATE TABLE drafts (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE CHECK (name <> ''),
    made_by INTEGER NOT NULL REFERENCES people (id),
    bank INTEGER REFERENCES banks (id),
    protocol TEXT NOT NULL CHECK (json_valid(protocol)),
    saved_at_utc TEXT NOT NULL,
    reached INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    chain TEXT NOT NULL,
    number INTEGER NOT NULL CHECK (number > 0),
    at_utc TEXT NOT NULL,
    actor TEXT NOT NULL,
    kind TEXT NOT NULL,
    detail TEXT NOT NULL CHECK (json_valid(detail)),
    previous_hash TEXT NOT NULL,
    hash TEXT NOT NULL,
    UNIQUE (chain, number)
) STRICT;
INSERT INTO "events" VALUES(1,'deployment',1,'2025-06-04T12:00:00.000Z','coordinator','deployment made','{"deployment_id":"a972cd3fa02fd44f","secret_sha256":"169cec2b78a424582015150e3304ad4ee0afedbee4634f4a63337f9f70891dd7"}','0000000000000000000000000000000000000000000000000000000000000000','56bee6707883aa176042731066d85fb80d877e5fde2a86b063596119110da823');
INSERT INTO "events" VALUES(2,'deployment',2,'2025-06-04T12:00:00.000Z','coordinator','bank imported','{"bank":"bank","citation":"","content_sha256":"f147d217581173ab62f492c3c32f0a7185b9a1b8e4539f5cd54e0979ace3d1e0","format":"rexvqa","licence":"","n_items":24,"n_left_out":0,"simulated":false,"source":"bank.json","source_sha256":"5b4e0650ae0fed0be694299d2c8282d8b9a2246652cab8673d3822f67bab5a0e","source_url":"","version":""}','56bee6707883aa176042731066d85fb80d877e5fde2a86b063596119110da823','d607386d917f157f4866f498a87e47d1a2544f480a3614d1f3189fe9da996307');
INSERT INTO "events" VALUES(3,'study:trial',1,'2025-06-04T12:00:00.000Z','coordinator','study drawn','{"bank":"bank","cases_sha256":"a8b8a1b8c02dfcd04cda68f1030987a9a23275cec7d754394f38154960b03e40","n_cases":8,"protocol_sha256":"b1fab3436eee0527f530ed69e270f00939ba25aa340a1febe7acff0487938312"}','0000000000000000000000000000000000000000000000000000000000000000','8c60df43b9a9d08e42d15418d463c2a83c5214c8f2f53f6402c2bae6ec14d33d');
INSERT INTO "events" VALUES(4,'study:trial',2,'2025-06-04T12:00:00.000Z','coordinator','reader invited','{"level":"","reader_id":"R1","site":"","years":""}','8c60df43b9a9d08e42d15418d463c2a83c5214c8f2f53f6402c2bae6ec14d33d','bc206b65ae6d21b0eb63b3b9a551cb0d3a6d8a1cca822bae3b733f91f5bac32a');
INSERT INTO "events" VALUES(5,'study:trial',3,'2025-06-04T12:00:00.000Z','coordinator','reader invited','{"level":"","reader_id":"R2","site":"","years":""}','bc206b65ae6d21b0eb63b3b9a551cb0d3a6d8a1cca822bae3b733f91f5bac32a','4540d0a5b92ec7ce3408a077f56dc91a41b83fba8eddfd1a642d381f6bb318ac');
INSERT INTO "events" VALUES(6,'study:trial',4,'2025-06-04T12:00:00.000Z','coordinator','reader invited','{"level":"","reader_id":"R3","site":"","years":""}','4540d0a5b92ec7ce3408a077f56dc91a41b83fba8eddfd1a642d381f6bb318ac','d53bb14003d8d8bbae25cd05d723d071c55e50692ebadfd4984fdcde4413221d');
INSERT INTO "events" VALUES(7,'study:trial',5,'2025-06-04T12:00:00.000Z','coordinator','study opened','{"items_sha256":"b76a3d575fe58c2e099ffd9fba3ea8e867ca0e8dd793840a57f156c2c13ff07c","protocol_sha256":"b1fab3436eee0527f530ed69e270f00939ba25aa340a1febe7acff0487938312","readers":["R1","R2","R3"],"truth_sha256":"afe2552b9452780c1fd6fc8076de340891c0909297e737dbc53a447458c90f4a"}','d53bb14003d8d8bbae25cd05d723d071c55e50692ebadfd4984fdcde4413221d','b3e39570dc3c6ff8ca18f31922d0c318a821a08d8d95d2f97ba5160ef8f7cf19');
INSERT INTO "events" VALUES(8,'study:trial',6,'2025-06-04T12:00:00.000Z','coordinator','reader assigned','{"assignments_sha256":"fd32e43df70aee354b9e2583df5e1ce2406fb2f3648ce690fa6a7674a2efd9e1","n_assigned":20,"reader_id":"R1"}','b3e39570dc3c6ff8ca18f31922d0c318a821a08d8d95d2f97ba5160ef8f7cf19','44292e1bc9deb3909c22a72b14989ce9d94fff363d97e12f7b634d8c62bba981');
INSERT INTO "events" VALUES(9,'study:trial',7,'2025-06-04T12:00:00.000Z','coordinator','reader assigned','{"assignments_sha256":"6516a05835bae909e7b8983675bef949d62a84d170ba775893ce3f69b130e226","n_assigned":20,"reader_id":"R2"}','44292e1bc9deb3909c22a72b14989ce9d94fff363d97e12f7b634d8c62bba981','9ae7a36fd37bdb7e89c659b41003eafd27e1c1ed22c40d4706ade46793919ad4');
INSERT INTO "events" VALUES(10,'study:trial',8,'2025-06-04T12:00:00.000Z','coordinator','reader assigned','{"assignments_sha256":"227c46a7d4a8ddb5dac0732b3a842d42c32d9af212e6208bd6538ba9891636ac","n_assigned":20,"reader_id":"R3"}','9ae7a36fd37bdb7e89c659b41003eafd27e1c1ed22c40d4706ade46793919ad4','94b03ed3b4550a5db0b04e4e11b52501cfe2aac2b9ea630b632b23d86574976d');
INSERT INTO "events" VALUES(11,'study:trial',9,'2025-06-04T12:00:00.000Z','coordinator','reader simulated','{"reader_id":"R1"}','94b03ed3b4550a5db0b04e4e11b52501cfe2aac2b9ea630b632b23d86574976d','b6455d5a3650624c687a1bc3012c5072223c013b82a80dc2c1a132b7ec93c2bf');
INSERT INTO "events" VALUES(12,'study:trial',10,'2025-06-04T12:00:00.250Z','R1','case presented','{"presentation":"p-b7b74b392fe43abb82f3bd7be3c21474","sha256":"5f5ca4f965a033a65540a6fe9f3148cd30b4791af47cfdce82b58868f9c78cb5"}','b6455d5a3650624c687a1bc3012c5072223c013b82a80dc2c1a132b7ec93c2bf','8282a002449b1a87a05993369c9877f22f4be9b8725af1a23f17ec2d3e327b7d');
INSERT INTO "events" VALUES(13,'study:trial',11,'2025-06-04T12:00:54.542Z','R1','case read','{"flags":[],"position":1,"reading":"r-b7b74b392fe43abb82f3bd7be3c21474","sha256":"cd2a1bf86ac434154beb5a5ade07b419315368f1195205eacdee8769c1d3d33e"}','8282a002449b1a87a05993369c9877f22f4be9b8725af1a23f17ec2d3e327b7d','49910a57766896cc93c57f73c22d3742e4b1429fdb73ad1f051db8b9f79916db');
INSERT INTO "events" VALUES(14,'study:trial',12,'2025-06-04T12:00:54.792Z','R1','case presented','{"presentation":"p-381e2f58e9b95f8c6910692ad17ecd47","sha256":"dcfec8294bf7ec29bfa56505c206761a0430cad02c2475821084e75565222519"}','49910a57766896cc93c57f73c22d3742e4b1429fdb73ad1f051db8b9f79916db','e691454d4a2537b1b93f2860da7f7de024594b30c5eb3f7a8c5c27f0bab3d3a2');
INSERT INTO "events" VALUES(15,'study:trial',13,'2025-06-04T12:01:06.026Z','R1','case read','{"flags":[],"position":2,"reading":"r-381e2f58e9b95f8c6910692ad17ecd47","sha256":"5d93791d61a88e5148b41b60d2920947a959f93713d54c561e2c8e504c959cbf"}','e691454d4a2537b1b93f2860da7f7de024594b30c5eb3f7a8c5c27f0bab3d3a2','96eb18c91def7c60437dd94974d848cfb7d2098ebd2cbd99137ef848c2e8e156');
INSERT INTO "events" VALUES(16,'study:trial',14,'2025-06-04T12:01:06.276Z','R1','case presented','{"presentation":"p-bcdf1908af5c71642da18e70714d0169","sha256":"04fb44edd42fcbd2c2229c12ce4141fa7342a535c9d4690334ca9ebcc23a5c99"}','96eb18c91def7c60437dd94974d848cfb7d2098ebd2cbd99137ef848c2e8e156','87f9c6b2f83d00978a3feb5ec51345c861aea57be8c69fd32b1bd1e7c7cbd53c');
INSERT INTO "events" VALUES(17,'study:trial',15,'2025-06-04T12:01:14.669Z','R1','case read','{"flags":[],"position":3,"reading":"r-bcdf1908af5c71642da18e70714d0169","sha256":"f23295e4a8bff33c1b6549a06387ddca842e6f99c486248e43789fbdc3b0ea8e"}','87f9c6b2f83d00978a3feb5ec51345c861aea57be8c69fd32b1bd1e7c7cbd53c','756a93cddbcdeee79f84a99b1efaa224a5ad4953db3174f09b621d38e9b27a6e');
INSERT INTO "events" VALUES(18,'study:trial',16,'2025-06-04T12:01:14.919Z','R1','case presented','{"presentation":"p-074853e1cb6628620ee15eafa4f5f018","sha256":"80b7d3b5a5ff9390a7a3ce163440e3caf0377b17119d9e3efdfd1fed9cfb2df8"}','756a93cddbcdeee79f84a99b1efaa224a5ad4953db3174f09b621d38e9b27a6e','f5bff44a99e1e24d3019b78ede58b0ba9492f4766905d62a59c7373b8e1fc0cc');
INSERT INTO "events" VALUES(19,'study:trial',17,'2025-06-04T12:01:49.790Z','R1','case read','{"flags":[],"position":4,"reading":"r-074853e1cb6628620ee15eafa4f5f018","sha256":"6271eee270bd19ae5324e266b104889e8b3c880803dc66089de2e9f82fa3690c"}','f5bff44a99e1e24d3019b78ede58b0ba9492f4766905d62a59c7373b8e1fc0cc','d8428342138ed2d9bd42b497fde203c6606c45732dd8f7f9dd7b317220807459');
INSERT INTO "events" VALUES(20,'study:trial',18,'2025-06-04T12:01:50.040Z','R1','case presented','{"presentation":"p-18f88f3678f46c2b6caf5c85f8a09d19","sha256":"65a869d47f3584c7d375671a547df88ad709746ffba308243b59c6796c998b34"}','d8428342138ed2d9bd42b497fde203c6606c45732dd8f7f9dd7b317220807459','436223b7ae543d01fe468c1476050481778633b22113713967d93000c63c0873');
INSERT INTO "events" VALUES(21,'study:trial',19,'2025-06-04T12:02:06.898Z','R1','case read','{"flags":[],"position":5,"reading":"r-18f88f3678f46c2b6caf5c85f8a09d19","sha256":"ae330b1572ec07b71e7ff0031beb488c68d32f353d2fc3a804ebf9cd0f56d23e"}','436223b7ae543d01fe468c1476050481778633b22113713967d93000c63c0873','a17a0b706dc12d69c933bc40aaf92f3c27cf56da27c69575473479e1aeabc517');
INSERT INTO "events" VALUES(22,'study:trial',20,'2025-06-04T12:02:07.148Z','R1','case presented','{"presentation":"p-c6a5c88610d18a9440187f488f033dd8","sha256":"85270a7d5ed88c961c85196cfa2d43362128b2f67b8ac8dbefa0cdc714d62389"}','a17a0b706dc12d69c933bc40aaf92f3c27cf56da27c69575473479e1aeabc517','5612386da759892fcb0a35a8568fabca751ba706aa4d434d2c7ea231059bfb89');
INSERT INTO "events" VALUES(23,'study:trial',21,'2025-06-04T12:02:24.138Z','R1','case read','{"flags":[],"position":6,"reading":"r-c6a5c88610d18a9440187f488f033dd8","sha256":"5a90222f698392ba5fd069510ce0d569ab0d74d51c8f17d93db199bc01dea828"}','5612386da759892fcb0a35a8568fabca751ba706aa4d434d2c7ea231059bfb89','55fe4db00ec734a8ced66a4e9624a3172e893ee0e671e5b01844854c045876ee');
INSERT INTO "events" VALUES(24,'study:trial',22,'2025-06-04T12:02:24.388Z','R1','case presented','{"presentation":"p-cc1310ed37ada2f73f96b3aa7a5c6ad3","sha256":"3717a0c9700a0fe8d184ee5febd7dc2d5a0bb64de415d707a765d372ff453a1e"}','55fe4db00ec734a8ced66a4e9624a3172e893ee0e671e5b01844854c045876ee','df2e777b5990ec5d27e87c57c4cb1348f2989211a769edd5dcd9810c13367be5');
INSERT INTO "events" VALUES(25,'study:trial',23,'2025-06-04T12:02:33.327Z','R1','case read','{"flags":[],"position":7,"reading":"r-cc1310ed37ada2f73f96b3aa7a5c6ad3","sha256":"a5cf43b3c1c3d6d294ae09519031fc168d125ba06fd0a7e0cee76f148e68f3f2"}','df2e777b5990ec5d27e87c57c4cb1348f2989211a769edd5dcd9810c13367be5','1edaac642bdfe9e4595bf277d916d7eecf74f8c28154babcf64b29361b5a29dc');
INSERT INTO "events" VALUES(26,'study:trial',24,'2025-06-04T12:02:33.577Z','R1','case presented','{"presentation":"p-5e6268e638ab3b4b2624c93cd7b4e198","sha256":"4ce21d3f029031bbfed9ff61be98f3f5e53bb000d5dc933daf858b6b57bd0e0b"}','1edaac642bdfe9e4595bf277d916d7eecf74f8c28154babcf64b29361b5a29dc','0979d52a93f1a5c5e68d0333f251d78a3e4146de15947f99346f94394346d624');
INSERT INTO "events" VALUES(27,'study:trial',25,'2025-06-04T12:02:57.170Z','R1','case read','{"flags":[],"position":8,"reading":"r-5e6268e638ab3b4b2624c93cd7b4e198","sha256":"1449855e9f28b6628c4071e21123d5360dc0ba84236433345149ba4ccf9af330"}','0979d52a93f1a5c5e68d0333f251d78a3e4146de15947f99346f94394346d624','ba681a5fdf707880fa9fa31d308f48333dea726430dbf7c5833f31d26592e809');
INSERT INTO "events" VALUES(28,'study:trial',26,'2025-06-04T12:02:57.420Z','R1','case presented','{"presentation":"p-382db0ad2bb32d1eac841b9a07b89677","sha256":"d189b719449c48aa4cc13c4a457528e41ced6cf50ca8aac7be26e62ee434683d"}','ba681a5fdf707880fa9fa31d308f48333dea726430dbf7c5833f31d26592e809','af2af1b5bb5a278e473b7598030277c8d291f89497fcbd159ba09f0e6ac2c7ce');
INSERT INTO "events" VALUES(29,'study:trial',27,'2025-06-04T12:03:24.445Z','R1','case read','{"flags":[],"position":9,"reading":"r-382db0ad2bb32d1eac841b9a07b89677","sha256":"8837e226ac9a440089d2b4edef2aa3ee67d802be16d425abbf5b697f9be69968"}','af2af1b5bb5a278e473b7598030277c8d291f89497fcbd159ba09f0e6ac2c7ce','08ebce8d451edc84b0cfa68e989cf3ea1c50d9ed9782b6290b3943a34b3a770f');
INSERT INTO "events" VALUES(30,'study:trial',28,'2025-06-04T12:03:24.695Z','R1','case presented','{"presentation":"p-0f2cfdf7c425b64e0e8ea22ddad50bfb","sha256":"58c586b8804da94407eda5800b332335ef5a032d1eb504ef7a6ac81e6e15aefb"}','08ebce8d451edc84b0cfa68e989cf3ea1c50d9ed9782b6290b3943a34b3a770f','47ca71ec57cef0d5164176e59f532b5e509c4544178ef3db9ded52ca4b7acb87');
INSERT INTO "events" VALUES(31,'study:trial',29,'2025-06-04T12:03:36.436Z','R1','case read','{"flags":[],"position":10,"reading":"r-0f2cfdf7c425b64e0e8ea22ddad50bfb","sha256":"5af3cedc6f40a1de701aa36f5ebd3d95992f0bb71be6ff6dacf4818b755c3366"}','47ca71ec57cef0d5164176e59f532b5e509c4544178ef3db9ded52ca4b7acb87','36da520f65e8876f7df77fa1f01c496c0d4c700874ddd8209f72bf348a636c59');
INSERT INTO "events" VALUES(32,'study:trial',30,'2025-06-04T12:03:36.686Z','R1','case presented','{"presentation":"p-deb6dedc2be947abf128a3becbe0c293","sha256":"eab9e790030a025e9963a497e1884861c9de0ea7d7414045d0f26f9af5cf8400"}','36da520f65e8876f7df77fa1f01c496c0d4c700874ddd8209f72bf348a636c59','e6991751f30e38710ed11367fa589a01be28b3ff19f115720a75c0a0b6e04396');
INSERT INTO "events" VALUES(33,'study:trial',31,'2025-06-04T12:04:08.691Z','R1','case read','{"flags":[],"position":11,"reading":"r-deb6dedc2be947abf128a3becbe0c293","sha256":"8df2eded0ef9ca11c764c71caf856d7973b8cd5f5a6fbfd8f93fb200fc49aff3"}','e6991751f30e38710ed11367fa589a01be28b3ff19f115720a75c0a0b6e04396','6a53f5eea75280819d83c14df6841ab181fa2a13cbf9f0edc647fab4e3403b85');
INSERT INTO "events" VALUES(34,'study:trial',32,'2025-06-04T12:04:08.941Z','R1','case presented','{"presentation":"p-2ff1c02463a8daf4646403e23f8cb1d7","sha256":"cc53967d6aeea86e2efd2ae27d2e9f571ee807ade1b69c0acdf2b1047cec3dc2"}','6a53f5eea75280819d83c14df6841ab181fa2a13cbf9f0edc647fab4e3403b85','dc1e8b9c09db95c9a4027b571ea36d147ec66101cd66d8713a69aca856ad2c03');
INSERT INTO "events" VALUES(35,'study:trial',33,'2025-06-04T12:04:47.094Z','R1','case read','{"flags":[],"position":12,"reading":"r-2ff1c02463a8daf4646403e23f8cb1d7","sha256":"ac7111cb370057e8aff1709920187e9658ca2b019b38bbafe08af8cc40272cae"}','dc1e8b9c09db95c9a4027b571ea36d147ec66101cd66d8713a69aca856ad2c03','5374557c85925444a5333f00a191e714a89cb7128beb89a8a513a614d7032953');
INSERT INTO "events" VALUES(36,'study:trial',34,'2025-06-04T12:04:47.344Z','R1','case presented','{"presentation":"p-27b1f681bb69f51d92bf8238e76c43aa","sha256":"33b73c3dd9df7f488a1146cff9f8ec70b5fb157e5d18b2346c0747309114096b"}','5374557c85925444a5333f00a191e714a89cb7128beb89a8a513a614d7032953','61cbc4efeba4cd7d8b9cdeab7ae014abe43a6138ab6b6af0ab7c62c95b1b3d30');
INSERT INTO "events" VALUES(37,'study:trial',35,'2025-06-04T12:04:56.231Z','R1','case read','{"flags":[],"position":13,"reading":"r-27b1f681bb69f51d92bf8238e76c43aa","sha256":"7acd1e44b4c59487c69461789811d4b303fbb561a5dd5b95a92f2fc92daf57ba"}','61cbc4efeba4cd7d8b9cdeab7ae014abe43a6138ab6b6af0ab7c62c95b1b3d30','4e30c061347532a76af277f105592033e6841a21eef382be08f91a3ea219fbcc');
INSERT INTO "events" VALUES(38,'study:trial',36,'2025-06-04T12:04:56.481Z','R1','case presented','{"presentation":"p-a8a3c3d2b6c9c08412b9d7a835d8da81","sha256":"1f0a7f90c234d4cff193aa90bde5bba43eecdd6cbc1776ffbad0efe3bc998170"}','4e30c061347532a76af277f105592033e6841a21eef382be08f91a3ea219fbcc','a3e7bd64f22bb8352229d12ca9f1d393970ed374eb4bb301ed81a310a1e9202c');
INSERT INTO "events" VALUES(39,'study:trial',37,'2025-06-04T12:05:15.337Z','R1','case read','{"flags":[],"position":14,"reading":"r-a8a3c3d2b6c9c08412b9d7a835d8da81","sha256":"9594dfed411502537a0ba22c126a577200c37b836cef4232ab49a979a113806b"}','a3e7bd64f22bb8352229d12ca9f1d393970ed374eb4bb301ed81a310a1e9202c','c2d83e331c7185d5dd4754597f426ac8357fa1e6e3cbd7710ec855fbddbc9fa6');
INSERT INTO "events" VALUES(40,'study:trial',38,'2025-06-04T12:05:15.587Z','R1','case presented','{"presentation":"p-362761ae4ece758f53157fb75f7d3dee","sha256":"f8b4c5d3a9053f17fcc2ff5e65a07e9987d2314a7f771618d62d228773558bba"}','c2d83e331c7185d5dd4754597f426ac8357fa1e6e3cbd7710ec855fbddbc9fa6','e86f673e0f706051b1ebfea91f0985b06428da8a94f0af3ed6e8b665981148df');
INSERT INTO "events" VALUES(41,'study:trial',39,'2025-06-04T12:05:51.609Z','R1','case read','{"flags":[],"position":15,"reading":"r-362761ae4ece758f53157fb75f7d3dee","sha256":"6370dbe79c1552ac6fa795c8f6b5cd8a8a5a0655748ab34c16f49b42a0fd2e2e"}','e86f673e0f706051b1ebfea91f0985b06428da8a94f0af3ed6e8b665981148df','9c4a10c3645f62b721196447b0528ba951e6c01628889177144a43d5762fe7d9');
INSERT INTO "events" VALUES(42,'study:trial',40,'2025-06-04T12:05:51.859Z','R1','case presented','{"presentation":"p-fede0aabd9143445e4a0f77ac04fd4c8","sha256":"827ceb9e2102ad6053a8b46703ab87c89fa6c658d1c1406c2001ed1910d94141"}','9c4a10c3645f62b721196447b0528ba951e6c01628889177144a43d5762fe7d9','8c7688aefdd125edc221ff9f7cf88f5e99a3fc356f52f7d6d39e1c72c3eae21c');
INSERT INTO "events" VALUES(43,'study:trial',41,'2025-06-04T12:06:12.207Z','R1','case read','{"flags":[],"position":16,"reading":"r-fede0aabd9143445e4a0f77ac04fd4c8","sha256":"4eb8df3e203334db164753c118d3db21f6d4337e73cce07e778910b4fa0052b5"}','8c7688aefdd125edc221ff9f7cf88f5e99a3fc356f52f7d6d39e1c72c3eae21c','d05a9eed394a30a761f3a07cb939c40f17897a0be6b00d884fd9745fab93f8f7');
INSERT INTO "events" VALUES(44,'study:trial',42,'2025-06-04T12:06:12.457Z','R1','case presented','{"presentation":"p-aa7561cdb2d7ad700f15f83011aeccc7","sha256":"15ce27aa72ee23e701eb8f54440106e7fe62d47134aae22eb805471ec34054e9"}','d05a9eed394a30a761f3a07cb939c40f17897a0be6b00d884fd9745fab93f8f7','f67e28b7e9ea378ff56a33e4da867918f518d8797b8f86bb6c2ef36a53f7fb51');
INSERT INTO "events" VALUES(45,'study:trial',43,'2025-06-04T12:06:33.522Z','R1','case read','{"flags":[],"position":17,"reading":"r-aa7561cdb2d7ad700f15f83011aeccc7","sha256":"2dffad8d873742f9ca675131e368afe97d266ef4a57bbc47c8ec82fe715d609b"}','f67e28b7e9ea378ff56a33e4da867918f518d8797b8f86bb6c2ef36a53f7fb51','4fe9f646b6eb15a338ee73ce029c6ab0e499dce2f6e1e60243ec5264b303f750');
INSERT INTO "events" VALUES(46,'study:trial',44,'2025-06-04T12:06:33.772Z','R1','case presented','{"presentation":"p-c1e992ef5100fa2e01d7dd9e96c4993f","sha256":"de99274504d7004cb9a2c93beba1d04d82a98479c36205bef85376ccd23d7efd"}','4fe9f646b6eb15a338ee73ce029c6ab0e499dce2f6e1e60243ec5264b303f750','c8b1870d3e69ba20c48550d7089af548d8e6075ee83c6b44b884b021aa427898');
INSERT INTO "events" VALUES(47,'study:trial',45,'2025-06-04T12:06:44.110Z','R1','case read','{"flags":[],"position":18,"reading":"r-c1e992ef5100fa2e01d7dd9e96c4993f","sha256":"fe475f7deb8367eb5681f0a8a6cd89a1142ba1525395f3ab84cff99484c4d54e"}','c8b1870d3e69ba20c48550d7089af548d8e6075ee83c6b44b884b021aa427898','6aa27e7f10b0005a021d33d2a213f99cceeaa59ad3afa7718dcf1cfe6be3fdef');
INSERT INTO "events" VALUES(48,'study:trial',46,'2025-06-04T12:06:44.360Z','R1','case presented','{"presentation":"p-2d5b56453f7f02b0e0a023e0492ff666","sha256":"f913ff3bfa518a68510d788c2e2d2d77a82ddebf635b90729d00c26b4c050876"}','6aa27e7f10b0005a021d33d2a213f99cceeaa59ad3afa7718dcf1cfe6be3fdef','d431e99b15278b076daed42f507ff1fb687ca570225a457c5c2aafe0484d36c1');
INSERT INTO "events" VALUES(49,'study:trial',47,'2025-06-04T12:07:22.488Z','R1','case read','{"flags":[],"position":19,"reading":"r-2d5b56453f7f02b0e0a023e0492ff666","sha256":"188852374994f60d72e11c29dcf02faab062ba7af7ba992fefdceee7d6b26128"}','d431e99b15278b076daed42f507ff1fb687ca570225a457c5c2aafe0484d36c1','6a2c83239dbd45127265a3abfcb3bd60560ec6c173d24f6ffd405294a67ff75c');
INSERT INTO "events" VALUES(50,'study:trial',48,'2025-06-04T12:07:22.738Z','R1','case presented','{"presentation":"p-a0f985b6a1efac0888d970588a4fa04c","sha256":"8dfc612c37df2f90be358e5f6e9d3d1e60edc8805094f4e7d458e2c0fb6c4b20"}','6a2c83239dbd45127265a3abfcb3bd60560ec6c173d24f6ffd405294a67ff75c','65aede294773e87c621539e2c61a8730ac8f86d73d5f8fd1785b9dd2aea5a3eb');
INSERT INTO "events" VALUES(51,'study:trial',49,'2025-06-04T12:07:31.406Z','R1','case read','{"flags":[],"position":20,"reading":"r-a0f985b6a1efac0888d970588a4fa04c","sha256":"090e408f13f00fecd71c5a62e10ad2e21526740ba1e55a9937b384aa7e5fe998"}','65aede294773e87c621539e2c61a8730ac8f86d73d5f8fd1785b9dd2aea5a3eb','4a00aabb704b5ee2a77fffaf00a0d95968faf0099416ebd9fbc43cc605461ab1');
INSERT INTO "events" VALUES(52,'study:trial',50,'2025-06-04T12:00:00.000Z','coordinator','reader simulated','{"reader_id":"R2"}','4a00aabb704b5ee2a77fffaf00a0d95968faf0099416ebd9fbc43cc605461ab1','c68de957ff4ebde3d83cb934ad0c840abe6ac319240e100bf367f1a7bb0f4d68');
INSERT INTO "events" VALUES(53,'study:trial',51,'2025-06-04T12:00:00.250Z','R2','case presented','{"presentation":"p-007bd61b05297265918d5c7104b8e51c","sha256":"56b87c615e0bc8ceaa579769113ff06e31521a90f309eb01859e11384518246e"}','c68de957ff4ebde3d83cb934ad0c840abe6ac319240e100bf367f1a7bb0f4d68','c6707bceae0d285b7b7ae29045bf5ea7d4f6d53ca0ec4d7a38cc5c5e7cf545d9');
INSERT INTO "events" VALUES(54,'study:trial',52,'2025-06-04T12:00:21.120Z','R2','case read','{"flags":[],"position":1,"reading":"r-007bd61b05297265918d5c7104b8e51c","sha256":"4960649f42cb7c059cf563f64e475326cebd81768c993ad513cbb62f1a67b73b"}','c6707bceae0d285b7b7ae29045bf5ea7d4f6d53ca0ec4d7a38cc5c5e7cf545d9','1eb92764cff5e4b3f96e547c05adddce8a91eb685ea4e39f4854c7ea6ee63e83');
INSERT INTO "events" VALUES(55,'study:trial',53,'2025-06-04T12:00:21.370Z','R2','case presented','{"presentation":"p-23e91dfbaea26c4c5a8a8d7f5bb8ef37","sha256":"2bc79d4a3a078cf3d981703c8aa2dd78a1825f952a40b70f45b0dedc3c193ba5"}','1eb92764cff5e4b3f96e547c05adddce8a91eb685ea4e39f4854c7ea6ee63e83','1bfb68a5eb6d4ad19ae0f00b3d4ecc10be5eb4592f1a002ea44dd36f28cf2195');
INSERT INTO "events" VALUES(56,'study:trial',54,'2025-06-04T12:00:33.936Z','R2','case read','{"flags":[],"position":2,"reading":"r-23e91dfbaea26c4c5a8a8d7f5bb8ef37","sha256":"767967e24613dc351c5ee79abc73887042ef889fd2c80f703b57ba552163f57a"}','1bfb68a5eb6d4ad19ae0f00b3d4ecc10be5eb4592f1a002ea44dd36f28cf2195','1c97664c8643d4ce05e6b1246e15711134945651dbbbdc79c2a9e2883749535e');
INSERT INTO "events" VALUES(57,'study:trial',55,'2025-06-04T12:00:34.186Z','R2','case presented','{"presentation":"p-5cb0913fa34cd73056b5c367b185cd27","sha256":"c389b2f44bb2ca8144626de152e0db0988c8af78fe591d2060a2736532ebdb21"}','1c97664c8643d4ce05e6b1246e15711134945651dbbbdc79c2a9e2883749535e','6b431ddf1cc3ca6143e74d5134cbc0b1ffe7e83bd8f32ab5491b7b96b73fbb42');
INSERT INTO "events" VALUES(58,'study:trial',56,'2025-06-04T12:00:50.790Z','R2','case read','{"flags":[],"position":3,"reading":"r-5cb0913fa34cd73056b5c367b185cd27","sha256":"ff2c567ced64f9523a8f6bf6d673df85018d5fee69456ef023bf50a2b03faa1e"}','6b431ddf1cc3ca6143e74d5134cbc0b1ffe7e83bd8f32ab5491b7b96b73fbb42','0d0cf9ac187ffa48d8dc946aa9a5a99f821b604a8bcdd7ae163c83768c880968');
INSERT INTO "events" VALUES(59,'study:trial',57,'2025-06-04T12:00:51.040Z','R2','case presented','{"presentation":"p-d1dcabd599d29c243b5034a1f03c0b85","sha256":"864c1b5ad3697ff1ec8c37e8136811a415d152eca90f3703838b97f00a6aada2"}','0d0cf9ac187ffa48d8dc946aa9a5a99f821b604a8bcdd7ae163c83768c880968','4c7c3e59365a0879ebc47592f0f20b531f970d471fa4b79c4ce6de81b3602093');
INSERT INTO "events" VALUES(60,'study:trial',58,'2025-06-04T12:01:16.133Z','R2','case read','{"flags":[],"position":4,"reading":"r-d1dcabd599d29c243b5034a1f03c0b85","sha256":"5169d1a1bb94cfe52bcb6ea910af29bb2a0fb326406d653360c3e4c8f4a232c4"}','4c7c3e59365a0879ebc47592f0f20b531f970d471fa4b79c4ce6de81b3602093','3a44dd6dfa95e5ccda70fc6780f9a05f8aaad0a611f753cde4d4ab760ea0a676');
INSERT INTO "events" VALUES(61,'study:trial',59,'2025-06-04T12:01:16.383Z','R2','case presented','{"presentation":"p-26be9f7bcc21ba1789e9eae1f82f1138","sha256":"5acd813336e57cde80c9fef140085d2044c2af25fc1ff8c96fd29cd1b9823aa4"}','3a44dd6dfa95e5ccda70fc6780f9a05f8aaad0a611f753cde4d4ab760ea0a676','0155250700d46ba6b38e339697ed9dd7423ea8f4116096b52ad7d38afa4fc563');
INSERT INTO "events" VALUES(62,'study:trial',60,'2025-06-04T12:01:37.930Z','R2','case read','{"flags":[],"position":5,"reading":"r-26be9f7bcc21ba1789e9eae1f82f1138","sha256":"b236373af5af0b0c3ce5ee695597f43560f11bfbfb0a1ebcfc0b22de5fffddf1"}','0155250700d46ba6b38e339697ed9dd7423ea8f4116096b52ad7d38afa4fc563','a5cb5f46ce8a5069be162b4b050689fbb28152e0a312bc50c12015cb6295ddea');
INSERT INTO "events" VALUES(63,'study:trial',61,'2025-06-04T12:01:38.180Z','R2','case presented','{"presentation":"p-557805e1a6328c52d5240ef84df90cea","sha256":"4a910db0795b721a70b473f647f199705faacdabca3743b4d1db39c5e21d4fd6"}','a5cb5f46ce8a5069be162b4b050689fbb28152e0a312bc50c12015cb6295ddea','c341d3e28396e74ee5cba05b6442130bc774da73c9c56cf6cbc845be23596920');
INSERT INTO "events" VALUES(64,'study:trial',62,'2025-06-04T12:01:45.788Z','R2','case read','{"flags":[],"position":6,"reading":"r-557805e1a6328c52d5240ef84df90cea","sha256":"f79d4d6703923ede31938dae9d24a5fe9fa6e6f8ca792a16fad53cfce4812d51"}','c341d3e28396e74ee5cba05b6442130bc774da73c9c56cf6cbc845be23596920','8fb1596a43635709de0a2e1e64626b4859435edeffdcba5751e39fd7006b7c61');
INSERT INTO "events" VALUES(65,'study:trial',63,'2025-06-04T12:01:46.038Z','R2','case presented','{"presentation":"p-ceea7ede36cd593e3abcedb5bd5c67fe","sha256":"5d75dab27643ae3901071642db93a2420edc65085738da4facd746e3e2750ee0"}','8fb1596a43635709de0a2e1e64626b4859435edeffdcba5751e39fd7006b7c61','d0571f0ec9f0544291b45ff60d31e6c1d85658c5b81d3188ea8be7c906a33ca5');
INSERT INTO "events" VALUES(66,'study:trial',64,'2025-06-04T12:02:04.875Z','R2','case read','{"flags":[],"position":7,"reading":"r-ceea7ede36cd593e3abcedb5bd5c67fe","sha256":"54d93ee7a25f24cb89144a853ee45acb366f5b82703c18ad08179de496310f36"}','d0571f0ec9f0544291b45ff60d31e6c1d85658c5b81d3188ea8be7c906a33ca5','09499082cf3ea27a9f49ac11e69c61cbd9fc6af2d4a3cf0e24d0e5880af29c04');
INSERT INTO "events" VALUES(67,'study:trial',65,'2025-06-04T12:02:05.125Z','R2','case presented','{"presentation":"p-f63268880ac94017bdcbf4deaa15afbf","sha256":"5c66b30a4449cb0e3e3e8984e43cdf1bc73fd4b80971d3aee458287a91504e4a"}','09499082cf3ea27a9f49ac11e69c61cbd9fc6af2d4a3cf0e24d0e5880af29c04','01d2e6c9a160a72372bf474d33d1340aff8afd4a1c185f7567643fe54deb4006');
INSERT INTO "events" VALUES(68,'study:trial',66,'2025-06-04T12:02:16.354Z','R2','case read','{"flags":[],"position":8,"reading":"r-f63268880ac94017bdcbf4deaa15afbf","sha256":"5824be92736238bda446055beffba8de73886ec5352e0fa313b9626eb795647b"}','01d2e6c9a160a72372bf474d33d1340aff8afd4a1c185f7567643fe54deb4006','503c4f012da5bce8cff24dd472a185318dd408511d4daf4e94a36cc7a24f13dc');
INSERT INTO "events" VALUES(69,'study:trial',67,'2025-06-04T12:02:16.604Z','R2','case presented','{"presentation":"p-fe438c307fe720bfb1087c73a25f0a63","sha256":"076c37ed9753d8b1a18fdfd1c132d1e736c61cc45d11326bc2accc028730b2e3"}','503c4f012da5bce8cff24dd472a185318dd408511d4daf4e94a36cc7a24f13dc','4acf58cad35892f0d9764c359c19f5c144cfdc05f4bc00ae750dd42967edbb90');
INSERT INTO "events" VALUES(70,'study:trial',68,'2025-06-04T12:02:24.275Z','R2','case read','{"flags":[],"position":9,"reading":"r-fe438c307fe720bfb1087c73a25f0a63","sha256":"031d5099cd6b16af9d5dd31c3c12f44b38543515639ecb69691d0fec8335d701"}','4acf58cad35892f0d9764c359c19f5c144cfdc05f4bc00ae750dd42967edbb90','68a8116e8d04b020e8ef2256d05f138d5c7d7518e7f8248e136a214e3835bd67');
INSERT INTO "events" VALUES(71,'study:trial',69,'2025-06-04T12:02:24.525Z','R2','case presented','{"presentation":"p-fc0e9115f825199d8dea96c6dd2326b3","sha256":"b629a2650c79a4e3a8fa66b9382b7bc14eaaef6e123ef793b51ecf296615b143"}','68a8116e8d04b020e8ef2256d05f138d5c7d7518e7f8248e136a214e3835bd67','501784f646f5e85c19a0e526fe5e3db4288cd3b906d351e509705063d5e08239');
INSERT INTO "events" VALUES(72,'study:trial',70,'2025-06-04T12:03:14.037Z','R2','case read','{"flags":[],"position":10,"reading":"r-fc0e9115f825199d8dea96c6dd2326b3","sha256":"ca368b38fa7da137c39bcd1f7dc9547c2c8b682f3c9291967b79ebb25620e58c"}','501784f646f5e85c19a0e526fe5e3db4288cd3b906d351e509705063d5e08239','f32ea9d389a7ead69205446ca70393aaf9e23d054434f81053f7bf5ba155ac2f');
INSERT INTO "events" VALUES(73,'study:trial',71,'2025-06-04T12:03:14.287Z','R2','case presented','{"presentation":"p-37647676e85f5a26cf7fc82c6347dd7c","sha256":"d5662b27b47191ed882e518055a1950d35489ceef49b2ea22fb147cf6f9d778d"}','f32ea9d389a7ead69205446ca70393aaf9e23d054434f81053f7bf5ba155ac2f','022fb457af12936bfa2369f97400a0991ba205713ffe7948921361a532d43c4f');
INSERT INTO "events" VALUES(74,'study:trial',72,'2025-06-04T12:03:31.127Z','R2','case read','{"flags":[],"position":11,"reading":"r-37647676e85f5a26cf7fc82c6347dd7c","sha256":"ac4f4426b961d67c3b14ca4c7ced0fef68ca63c05bfd98d1f731e918dbe8b4a4"}','022fb457af12936bfa2369f97400a0991ba205713ffe7948921361a532d43c4f','d0a8a281a777f07668fa7cb3bf7181bd307612b857be85bfa3f22dbd113ad14f');
INSERT INTO "events" VALUES(75,'study:trial',73,'2025-06-04T12:03:31.377Z','R2','case presented','{"presentation":"p-dab34b2753a908e20af92a33c31caeed","sha256":"e2d857ca3b05ae925d07f0aa03ddd2380938c601351ffe207775c9976737c4ea"}','d0a8a281a777f07668fa7cb3bf7181bd307612b857be85bfa3f22dbd113ad14f','a5478612abfe1426068f14d458f8c035cfdcfd000891a7e8a65f68132b1de46f');
INSERT INTO "events" VALUES(76,'study:trial',74,'2025-06-04T12:03:55.137Z','R2','case read','{"flags":[],"position":12,"reading":"r-dab34b2753a908e20af92a33c31caeed","sha256":"6068b449619baf60e0e114804077f573863c86b5e967a02da1ff4c26084f91fd"}','a5478612abfe1426068f14d458f8c035cfdcfd000891a7e8a65f68132b1de46f','54c5ed1f521430a7ce915d4e2b4dddb5d4724b9cfb69f8f412488f448028a257');
INSERT INTO "events" VALUES(77,'study:trial',75,'2025-06-04T12:03:55.387Z','R2','case presented','{"presentation":"p-dbf17324885d1f97dde216610d270fe8","sha256":"69eb1709cce664cc0d62c09c8dea1dac707581072a3fbb2e140408d5c7495484"}','54c5ed1f521430a7ce915d4e2b4dddb5d4724b9cfb69f8f412488f448028a257','317a51bcf08900f16c70a3c542e54fd19523e90956d9702dd38eb46438fadf37');
INSERT INTO "events" VALUES(78,'study:trial',76,'2025-06-04T12:04:03.352Z','R2','case read','{"flags":[],"position":13,"reading":"r-dbf17324885d1f97dde216610d270fe8","sha256":"5c797d5793824bfd4c3dd556fa08020b1710ef34386ea6af5cdd2b5b9b105d78"}','317a51bcf08900f16c70a3c542e54fd19523e90956d9702dd38eb46438fadf37','388b59880686152940bff4fb06efa9fd580092cfffbeb88b24a53b02b21d772c');
INSERT INTO "events" VALUES(79,'study:trial',77,'2025-06-04T12:04:03.602Z','R2','case presented','{"presentation":"p-38f83abebee2fc5311926f28d0c77202","sha256":"92597b5b8e4fa83b7372e91f3c817b0dd8223018d4218dfcaf9cb9c7480e4b2d"}','388b59880686152940bff4fb06efa9fd580092cfffbeb88b24a53b02b21d772c','a35cb2d25870f3a600e3ec0a0fc82d3641c2856df62943892738f68fe4f5409c');
INSERT INTO "events" VALUES(80,'study:trial',78,'2025-06-04T12:04:16.653Z','R2','case read','{"flags":[],"position":14,"reading":"r-38f83abebee2fc5311926f28d0c77202","sha256":"a59cc196edef778a06d5a9cea33241a11bb642ec7fa6c1a0d100e6124e5d479b"}','a35cb2d25870f3a600e3ec0a0fc82d3641c2856df62943892738f68fe4f5409c','e11fd10e5d0ed33244e57ef6829523e9bcadaa818d2c2af24c9ad14560c03623');
INSERT INTO "events" VALUES(81,'study:trial',79,'2025-06-04T12:04:16.903Z','R2','case presented','{"presentation":"p-eab3ef8515d94743503e44d9ade12078","sha256":"5837e64c7182779350fd8a6cc8a739c539aa5261671a536e2697e9e68248d123"}','e11fd10e5d0ed33244e57ef6829523e9bcadaa818d2c2af24c9ad14560c03623','09a514c01c8522fd47ebacf0017dd7a8c2cbd48263a8edae3c6babf7479b0120');
INSERT INTO "events" VALUES(82,'study:trial',80,'2025-06-04T12:04:32.333Z','R2','case read','{"flags":[],"position":15,"reading":"r-eab3ef8515d94743503e44d9ade12078","sha256":"4e27defc9ab081eb950f3f5a917c14f5f1d2c33407697d33f782d0caff9d97b6"}','09a514c01c8522fd47ebacf0017dd7a8c2cbd48263a8edae3c6babf7479b0120','6c26b25e1deea2e1db8605144d96641beac278cf7fc10a53c85c07fb1203ccd8');
INSERT INTO "events" VALUES(83,'study:trial',81,'2025-06-04T12:04:32.583Z','R2','case presented','{"presentation":"p-0b957dd71e48f7898497637479b28f7b","sha256":"79dcaa10640371a50be3a1071c8e631f595d07f91f3fe8f62d06a28f54743bfc"}','6c26b25e1deea2e1db8605144d96641beac278cf7fc10a53c85c07fb1203ccd8','94c8468c896c284e4126cd673cfb70981da877cd1105d8f6eb7795d910eeb8f6');
INSERT INTO "events" VALUES(84,'study:trial',82,'2025-06-04T12:04:48.033Z','R2','case read','{"flags":[],"position":16,"reading":"r-0b957dd71e48f7898497637479b28f7b","sha256":"4e0c5be568cc29115201762cb001cb5a51972127305989a585f161d78546ff90"}','94c8468c896c284e4126cd673cfb70981da877cd1105d8f6eb7795d910eeb8f6','bcc5976a76328b04c30ce17dc79aca28e020c434dca3626213aa94c6c8c3126b');
INSERT INTO "events" VALUES(85,'study:trial',83,'2025-06-04T12:04:48.283Z','R2','case presented','{"presentation":"p-fa68141d8a88568864cd7275deaa5a1d","sha256":"b00e2f645eab63bd53cf59e917531459d1dea526fdf2839c2c656e41011d2891"}','bcc5976a76328b04c30ce17dc79aca28e020c434dca3626213aa94c6c8c3126b','68857bcc5ab3cab7cbdc5dc0844e52b38c1180358e13f383e528059adb8df91c');
INSERT INTO "events" VALUES(86,'study:trial',84,'2025-06-04T12:04:59.989Z','R2','case read','{"flags":[],"position":17,"reading":"r-fa68141d8a88568864cd7275deaa5a1d","sha256":"e9b3a03d43e4d33e7831748a30ce030b2c22c0260db79fc3f61559107bbb7b91"}','68857bcc5ab3cab7cbdc5dc0844e52b38c1180358e13f383e528059adb8df91c','c181375df02afd3307d4f445c95e4878dcb6fd671b0df6507635f98cdce24fb4');
INSERT INTO "events" VALUES(87,'study:trial',85,'2025-06-04T12:05:00.239Z','R2','case presented','{"presentation":"p-c697e14b3a31e275f0c8bf70625507a5","sha256":"685a93979286c4173bf23937d042646fa167e2aa8e095d66687c06304000704b"}','c181375df02afd3307d4f445c95e4878dcb6fd671b0df6507635f98cdce24fb4','d3ced566f14cb227669c9492ec935e99d1493e73c7636670e2ccadb0abde2abd');
INSERT INTO "events" VALUES(88,'study:trial',86,'2025-06-04T12:05:19.291Z','R2','case read','{"flags":[],"position":18,"reading":"r-c697e14b3a31e275f0c8bf70625507a5","sha256":"aec964a8ad1b3fde4d93f4ecd7c40a7b265e2d580fc2c763378e916f944774e2"}','d3ced566f14cb227669c9492ec935e99d1493e73c7636670e2ccadb0abde2abd','f9fb8ea03089f9cbf59b8c48c9a0cfc0112e13907f06072d6d61b4f763e8ce38');
INSERT INTO "events" VALUES(89,'study:trial',87,'2025-06-04T12:05:19.541Z','R2','case presented','{"presentation":"p-76f852bcd257f36088d08845d70c2381","sha256":"5906e6408cafcee21a66778ccd40651173857e39f486e2e6729c89e6aa1e50b7"}','f9fb8ea03089f9cbf59b8c48c9a0cfc0112e13907f06072d6d61b4f763e8ce38','2f1693c02df44d4728ee62333b70ef47510558cc374c5c7c62b6fc09bdd8458d');
INSERT INTO "events" VALUES(90,'study:trial',88,'2025-06-04T12:05:34.973Z','R2','case read','{"flags":[],"position":19,"reading":"r-76f852bcd257f36088d08845d70c2381","sha256":"437a27e51f6fe3a172f7bffde8dee1b551d69bad0a744448743f696f11c7650c"}','2f1693c02df44d4728ee62333b70ef47510558cc374c5c7c62b6fc09bdd8458d','47ef8e95dee3e691e89d209ad6dea99cbdf014798239c20c3e73cd65231efd06');
INSERT INTO "events" VALUES(91,'study:trial',89,'2025-06-04T12:05:35.223Z','R2','case presented','{"presentation":"p-bc23cc61034fda2f5deb1eaecefc754e","sha256":"65f2f1b06f1b68b7ef5a71a0db78e947d66fd6ac18df2d2b14cb50492b7fe5ca"}','47ef8e95dee3e691e89d209ad6dea99cbdf014798239c20c3e73cd65231efd06','3dcfb98a96180339131f3ec32c72fc28903177f9178a08f7b5c89eecc8236418');
INSERT INTO "events" VALUES(92,'study:trial',90,'2025-06-04T12:05:42.949Z','R2','case read','{"flags":[],"position":20,"reading":"r-bc23cc61034fda2f5deb1eaecefc754e","sha256":"24994c44cdefcc26206c0bbf1b867eac7dd3240afc9de9819dd58a1c9e404232"}','3dcfb98a96180339131f3ec32c72fc28903177f9178a08f7b5c89eecc8236418','9cb0735a11b7b35cc1f92409cb53a1f6e47da493840f4644bed56217fc4f4b35');
INSERT INTO "events" VALUES(93,'study:trial',91,'2025-06-04T12:00:00.000Z','coordinator','reader simulated','{"reader_id":"R3"}','9cb0735a11b7b35cc1f92409cb53a1f6e47da493840f4644bed56217fc4f4b35','0267c1a0bc8265ae62fa41abf9852a5c5f6567651a775400b624306292bab901');
INSERT INTO "events" VALUES(94,'study:trial',92,'2025-06-04T12:00:00.250Z','R3','case presented','{"presentation":"p-bca51c6259b00a834944aa595296e75f","sha256":"823a9aa077f976897dda28f78a0b089f9a367e498bd588619b32fce85d48ad85"}','0267c1a0bc8265ae62fa41abf9852a5c5f6567651a775400b624306292bab901','4feb663076edf9497a30df99c889f4f98b50002bd23b0156b728aac6090d33fc');
INSERT INTO "events" VALUES(95,'study:trial',93,'2025-06-04T12:00:10.119Z','R3','case read','{"flags":[],"position":1,"reading":"r-bca51c6259b00a834944aa595296e75f","sha256":"41cb4d8c89177bac7e9b65e5232f94db642e279f7fa9543569110f24a4465235"}','4feb663076edf9497a30df99c889f4f98b50002bd23b0156b728aac6090d33fc','4e4e22c7394de1dedd92ab2247ef6162ac2d88c417a650535dde7b808e9cf7f6');
INSERT INTO "events" VALUES(96,'study:trial',94,'2025-06-04T12:00:10.369Z','R3','case presented','{"presentation":"p-60f0366af425476d176832931d5c3958","sha256":"36f7f4d24efb1b7266df9ebbd221580593819f2b9f4803d30a73b942d662f8c8"}','4e4e22c7394de1dedd92ab2247ef6162ac2d88c417a650535dde7b808e9cf7f6','8c1dcef2364c4d561f03c4080483d5c5996f64aa82fb6b1057c347253db06682');
INSERT INTO "events" VALUES(97,'study:trial',95,'2025-06-04T12:00:17.551Z','R3','case read','{"flags":[],"position":2,"reading":"r-60f0366af425476d176832931d5c3958","sha256":"1027339d4429874affae2614b2653980de99ec5bcaea3a0c304056608ba951df"}','8c1dcef2364c4d561f03c4080483d5c5996f64aa82fb6b1057c347253db06682','217040361612c688775eaf87a6a39093148e299dd709e120c443e4e1ced7e35d');
INSERT INTO "events" VALUES(98,'study:trial',96,'2025-06-04T12:00:17.801Z','R3','case presented','{"presentation":"p-2042bd7f6e14603362b2d64eab8071d8","sha256":"10d3b17ffece036c5524d95bf362648b105a9845f844c0368144c7f59d89be67"}','217040361612c688775eaf87a6a39093148e299dd709e120c443e4e1ced7e35d','8470e2c83783fb8cab1f0561fbf11b47c226b3e2a6263ce9b92447a270234682');
INSERT INTO "events" VALUES(99,'study:trial',97,'2025-06-04T12:00:41.497Z','R3','case read','{"flags":[],"position":3,"reading":"r-2042bd7f6e14603362b2d64eab8071d8","sha256":"d78a5e8656f0e72394afeeae91633300b462915213e989d77a0c2ff64981560c"}','8470e2c83783fb8cab1f0561fbf11b47c226b3e2a6263ce9b92447a270234682','fa1b0b0c9097c802609ea54e378908912e62e5ad5b75e4f0bae560c6bda33a6e');
INSERT INTO "events" VALUES(100,'study:trial',98,'2025-06-04T12:00:41.747Z','R3','case presented','{"presentation":"p-4a426ce5605d009ba5a49f3c139c9f28","sha256":"ad879a9420f4a3ebb61d1ee7a90406e1b6dcd5b9aa526065a567a1229927cb73"}','fa1b0b0c9097c802609ea54e378908912e62e5ad5b75e4f0bae560c6bda33a6e','26bd5dbc9dd79b61dcdcc2281f971397aee7ee894632453935ab850a84657f3e');
INSERT INTO "events" VALUES(101,'study:trial',99,'2025-06-04T12:00:56.737Z','R3','case read','{"flags":[],"position":4,"reading":"r-4a426ce5605d009ba5a49f3c139c9f28","sha256":"b41464e5d3b10f6952c6f11ba93207854578649352a83a175ddbacbd0e8ef735"}','26bd5dbc9dd79b61dcdcc2281f971397aee7ee894632453935ab850a84657f3e','4683ddd6cabf0115fb1ce10c236f20acf1fafced84480ccf6526faba023e2c86');
INSERT INTO "events" VALUES(102,'study:trial',100,'2025-06-04T12:00:56.987Z','R3','case presented','{"presentation":"p-eaa2da0a07f32bed2fbcf25ca1b1dfc3","sha256":"43906988a1ee569ec2d2ca65774a229fcac5c873408f65787c2bd084b987143c"}','4683ddd6cabf0115fb1ce10c236f20acf1fafced84480ccf6526faba023e2c86','6ed24d088b4a00dd53f409414fd2fffcb1b8adc60e413eff36f419e1aeb8e90f');
INSERT INTO "events" VALUES(103,'study:trial',101,'2025-06-04T12:01:14.877Z','R3','case read','{"flags":[],"position":5,"reading":"r-eaa2da0a07f32bed2fbcf25ca1b1dfc3","sha256":"117fa0f57f887762ed47c5daa6ab958f0f085b632e666f041b29d4e3a66fdedf"}','6ed24d088b4a00dd53f409414fd2fffcb1b8adc60e413eff36f419e1aeb8e90f','a505adc90be7098222063d6f72253ca121892159b3b15b54943af4cdfae4c32b');
INSERT INTO "events" VALUES(104,'study:trial',102,'2025-06-04T12:01:15.127Z','R3','case presented','{"presentation":"p-1bf2727f8e74c32cee04632dd2d21d87","sha256":"293d8ee8d046ea551a073cff55eb8691c1fcd5d1479178f7c088545c8cdb82a0"}','a505adc90be7098222063d6f72253ca121892159b3b15b54943af4cdfae4c32b','16571f44952bc88e6634420aed2e251293ee4b2a38a20e953338321f9aa2df25');
INSERT INTO "events" VALUES(105,'study:trial',103,'2025-06-04T12:01:23.892Z','R3','case read','{"flags":[],"position":6,"reading":"r-1bf2727f8e74c32cee04632dd2d21d87","sha256":"16d03f087bb55fb904e098c19458511856635056393ee3123dd9e264f996fa09"}','16571f44952bc88e6634420aed2e251293ee4b2a38a20e953338321f9aa2df25','ed51705504125e1459a1ba11f2b943e0713da2e46e5f48e26a76458a4b9914b8');
INSERT INTO "events" VALUES(106,'study:trial',104,'2025-06-04T12:01:24.142Z','R3','case presented','{"presentation":"p-47f914cd688347dca6d79604e160168a","sha256":"579140e4379ac39686c61609534f91ee1962694b6638cecf9dceda75a9845480"}','ed51705504125e1459a1ba11f2b943e0713da2e46e5f48e26a76458a4b9914b8','cd349d190ef2efc8481da481b0df135a11ef69609fc05115f7b3331031186305');
INSERT INTO "events" VALUES(107,'study:trial',105,'2025-06-04T12:01:41.024Z','R3','case read','{"flags":[],"position":7,"reading":"r-47f914cd688347dca6d79604e160168a","sha256":"82d7b1b146e5e8eaacdd6f71ac54c849803ee44d33a2072941d7d335e5ed2b51"}','cd349d190ef2efc8481da481b0df135a11ef69609fc05115f7b3331031186305','22b98fbfa85be2f8355c793b9c938915e637b29816069c23131994c3ab3cc57c');
INSERT INTO "events" VALUES(108,'study:trial',106,'2025-06-04T12:01:41.274Z','R3','case presented','{"presentation":"p-776fa65c7e8d4956d5ca8698aba5db65","sha256":"8324324fb3a2a6ccd0bc90bd6505f881a834b4e0b500b9726d5e32c25faa5087"}','22b98fbfa85be2f8355c793b9c938915e637b29816069c23131994c3ab3cc57c','9d71fd794c7689974e62cb8c9cb892b10bb11d9a0d508ab21b99f6d560b4a1af');
INSERT INTO "events" VALUES(109,'study:trial',107,'2025-06-04T12:01:56.026Z','R3','case read','{"flags":[],"position":8,"reading":"r-776fa65c7e8d4956d5ca8698aba5db65","sha256":"4d1fbecad3531f6588f350fe1e3f8247ab3ab168b12106736734c29e173f7e47"}','9d71fd794c7689974e62cb8c9cb892b10bb11d9a0d508ab21b99f6d560b4a1af','c7adca89ace6fd19df273ce666d38be08b995e37302f41dfb1d7712dcd922a17');
INSERT INTO "events" VALUES(110,'study:trial',108,'2025-06-04T12:01:56.276Z','R3','case presented','{"presentation":"p-1cb4eb9fecafc3e5d5963c27f3284a54","sha256":"7e64e8d6a91e39970dc5b317947782c308c9c8a834bd85012c5d209842dddbe6"}','c7adca89ace6fd19df273ce666d38be08b995e37302f41dfb1d7712dcd922a17','d1f9abf0114f4e971bef8de1299860c10bbfb089fd035be9a098d7db6f247bfe');
INSERT INTO "events" VALUES(111,'study:trial',109,'2025-06-04T12:02:09.220Z','R3','case read','{"flags":[],"position":9,"reading":"r-1cb4eb9fecafc3e5d5963c27f3284a54","sha256":"47179702cb76993a673fa043c95a72f1c7388016aa426735349fceb5d5db6bb9"}','d1f9abf0114f4e971bef8de1299860c10bbfb089fd035be9a098d7db6f247bfe','6f41951e30206d12a0b1074080cdbd1abdd2c760c4326c939557edf023ee7af8');
INSERT INTO "events" VALUES(112,'study:trial',110,'2025-06-04T12:02:09.470Z','R3','case presented','{"presentation":"p-d74b9182ac974900132e67594973938d","sha256":"e16a28a38250a3408c511db676664a1dbfef288f91c5873d9839870a4501f8d0"}','6f41951e30206d12a0b1074080cdbd1abdd2c760c4326c939557edf023ee7af8','a567141b785dac229d98245e08232a2fa1a376ec65221556a2d7790a12930f34');
INSERT INTO "events" VALUES(113,'study:trial',111,'2025-06-04T12:02:23.755Z','R3','case read','{"flags":[],"position":10,"reading":"r-d74b9182ac974900132e67594973938d","sha256":"be77b5bba02a600d0cb4a62312afc99dddca1bcff95fd8d2183f6a968207afb8"}','a567141b785dac229d98245e08232a2fa1a376ec65221556a2d7790a12930f34','5817d5ff60fc37195ba22d2605a31390f47d588da82c889af914233f9a60e156');
INSERT INTO "events" VALUES(114,'study:trial',112,'2025-06-04T12:02:24.005Z','R3','case presented','{"presentation":"p-7471886c988eac163ee987339f3db9df","sha256":"af7fcaae054f146be1e284cd5f8d4e99f8beb132c8d7d67ec7ebab2cfac09211"}','5817d5ff60fc37195ba22d2605a31390f47d588da82c889af914233f9a60e156','b33a86cce9db2e7a22397f2e749d05569f59fe51ca0a026f230312c54b6a7312');
INSERT INTO "events" VALUES(115,'study:trial',113,'2025-06-04T12:02:42.611Z','R3','case read','{"flags":[],"position":11,"reading":"r-7471886c988eac163ee987339f3db9df","sha256":"b39794275552c18fc68fe7966a9ea4476cf6ca449adcb20a4a691dd065eeeda6"}','b33a86cce9db2e7a22397f2e749d05569f59fe51ca0a026f230312c54b6a7312','640b7ff59348c2e29b11f7fa5f9ab1ac6db840015cca2b6256d2e887f8b68867');
INSERT INTO "events" VALUES(116,'study:trial',114,'2025-06-04T12:02:42.861Z','R3','case presented','{"presentation":"p-a95ed24f544e647c66bf5882ff74d4e9","sha256":"39a7bc77aaf8681b28ba44f19651f2ca9e00a4fe6dc5fab6ab73c4adcac6753c"}','640b7ff59348c2e29b11f7fa5f9ab1ac6db840015cca2b6256d2e887f8b68867','3a8a0aef1cc482b9fc908312f76930233811b1f4491c6799291f512f32a288f3');
INSERT INTO "events" VALUES(117,'study:trial',115,'2025-06-04T12:03:03.161Z','R3','case read','{"flags":[],"position":12,"reading":"r-a95ed24f544e647c66bf5882ff74d4e9","sha256":"e69db0e8b6912558793e31955efdf6db83819772a34da7dacca0dd18cbf05f67"}','3a8a0aef1cc482b9fc908312f76930233811b1f4491c6799291f512f32a288f3','e5e5244f70e7677e04085169bef736e2ea7dcd64a4725491f8d8423654f4a33a');
INSERT INTO "events" VALUES(118,'study:trial',116,'2025-06-04T12:03:03.411Z','R3','case presented','{"presentation":"p-dd03018e476217822292b05385bf524f","sha256":"9f4356ecaf016011fc5bc4b653c970570b5aa181e6176c8fb1c545c71347bf4e"}','e5e5244f70e7677e04085169bef736e2ea7dcd64a4725491f8d8423654f4a33a','1e042036abc8f67f79d508f254b811cf5a9b74ef83d5987c7efd57b1fcac6b34');
INSERT INTO "events" VALUES(119,'study:trial',117,'2025-06-04T12:03:09.178Z','R3','case read','{"flags":[],"position":13,"reading":"r-dd03018e476217822292b05385bf524f","sha256":"2cfdbcf6e0c24fba340a4d9f97e88f1bf8489a58cae189176b9b0f4d0823e9c3"}','1e042036abc8f67f79d508f254b811cf5a9b74ef83d5987c7efd57b1fcac6b34','6c145138d1c2406d9e898747a98416272e6ab41208685a284e3a6d9e50d5a1d0');
INSERT INTO "events" VALUES(120,'study:trial',118,'2025-06-04T12:03:09.428Z','R3','case presented','{"presentation":"p-9d2ea7439ad66192315fd04c6dd7a591","sha256":"a7826a5a94aa25587fdb0724abbdfb48a3793bef4ce12b0d81fcba24dc8c8e9b"}','6c145138d1c2406d9e898747a98416272e6ab41208685a284e3a6d9e50d5a1d0','844a6fb59178f4123688bfc8737f039b8d18530a277fa50b6ba4fc10ad505580');
INSERT INTO "events" VALUES(121,'study:trial',119,'2025-06-04T12:03:40.278Z','R3','case read','{"flags":[],"position":14,"reading":"r-9d2ea7439ad66192315fd04c6dd7a591","sha256":"2c9e3d1c149117f094b57d2d907a1b1cad9fc3b490cfcfe55d10e6a0b077c69b"}','844a6fb59178f4123688bfc8737f039b8d18530a277fa50b6ba4fc10ad505580','963706dda907f0c95dd9bad6569c7bfb538ad3c1af782a899073ac078b8e9ea4');
INSERT INTO "events" VALUES(122,'study:trial',120,'2025-06-04T12:03:40.528Z','R3','case presented','{"presentation":"p-5f0be0ca0cc068e8e2008be8558b3255","sha256":"bcf91026bb622a0b5a44475069ce842a9b09e3d16e27018a6a8c03ab67e34a37"}','963706dda907f0c95dd9bad6569c7bfb538ad3c1af782a899073ac078b8e9ea4','c328252c16317c0ac66e5c9647e217bbfbcfab4666b82c7c28fd07dd7aad8828');
INSERT INTO "events" VALUES(123,'study:trial',121,'2025-06-04T12:03:54.101Z','R3','case read','{"flags":[],"position":15,"reading":"r-5f0be0ca0cc068e8e2008be8558b3255","sha256":"0362d562423dbf35e39560bfa1fcd026187c1aa147bb476f43a99c5b7a7ef0f7"}','c328252c16317c0ac66e5c9647e217bbfbcfab4666b82c7c28fd07dd7aad8828','3dcf77da6c64ff39b5751b79f2a9902f381a3dff5ef73caa84b8aba1b698497d');
INSERT INTO "events" VALUES(124,'study:trial',122,'2025-06-04T12:03:54.351Z','R3','case presented','{"presentation":"p-5c4b62d688d122b1e5d5bb35474ca35f","sha256":"e71136112e50d4d2b3240ab2691044dc0674329d2628896b2211678747c9db04"}','3dcf77da6c64ff39b5751b79f2a9902f381a3dff5ef73caa84b8aba1b698497d','e807113dc9441d429b2e57e4f1f60fa29ba3d4ef4aae0c6366a53ddbca1283e5');
INSERT INTO "events" VALUES(125,'study:trial',123,'2025-06-04T12:04:34.381Z','R3','case read','{"flags":[],"position":16,"reading":"r-5c4b62d688d122b1e5d5bb35474ca35f","sha256":"652b2f44e5aa475b7891a7232b71e84290902a32f93fd859010f5ffe01398b66"}','e807113dc9441d429b2e57e4f1f60fa29ba3d4ef4aae0c6366a53ddbca1283e5','e7b1df9e5228a07ce783f73b527b6b53fd31e2efaa936880052e41eeb6286dc6');
INSERT INTO "events" VALUES(126,'study:trial',124,'2025-06-04T12:04:34.631Z','R3','case presented','{"presentation":"p-bd781441f2a570fe5c96712a2b9ee4a3","sha256":"8a8fdaab54351e60c85839c4ae5cbf07e99ed1ae079813c1c9649ac1841e2b8e"}','e7b1df9e5228a07ce783f73b527b6b53fd31e2efaa936880052e41eeb6286dc6','95967df02c593dbc0a140e5a86cf056b792d43924f9fc294719a03a121d318fa');
INSERT INTO "events" VALUES(127,'study:trial',125,'2025-06-04T12:04:44.673Z','R3','case read','{"flags":[],"position":17,"reading":"r-bd781441f2a570fe5c96712a2b9ee4a3","sha256":"65c21e53d087bc19bcc377c8b4598598c56cf43bd29dd4a0c7d4be1561b3f7df"}','95967df02c593dbc0a140e5a86cf056b792d43924f9fc294719a03a121d318fa','5338aa2f0014b88fae426c200b4c4e8ae4bd1a32857aca17f0c4b07293163d9c');
INSERT INTO "events" VALUES(128,'study:trial',126,'2025-06-04T12:04:44.923Z','R3','case presented','{"presentation":"p-ac900e265eacb7ec834dff41a4c12062","sha256":"e96bca3d8ca05e6a6c25ea793ac060fc952979e2df7c65c739fc92cdc6ff08d8"}','5338aa2f0014b88fae426c200b4c4e8ae4bd1a32857aca17f0c4b07293163d9c','81efd74cfc72720e3683b477b943e5bbf2bfd043ea1cece8f5e541e409be257b');
INSERT INTO "events" VALUES(129,'study:trial',127,'2025-06-04T12:04:53.630Z','R3','case read','{"flags":[],"position":18,"reading":"r-ac900e265eacb7ec834dff41a4c12062","sha256":"c6e6a0dcebebf0188fc021d4cc54359eb8277faea829b0e348ea85a50c0dd99b"}','81efd74cfc72720e3683b477b943e5bbf2bfd043ea1cece8f5e541e409be257b','04c88280ea08ed959b508893967bf922cf8c4cb5139a9c010da4e5f1c58dd0cb');
INSERT INTO "events" VALUES(130,'study:trial',128,'2025-06-04T12:04:53.880Z','R3','case presented','{"presentation":"p-51c459dfd5bc732894a3a4380678cc4b","sha256":"18b1ad69c61cc3cd87f3c24c25e55eddc4ead9cb2a67575b2a199f68009854d7"}','04c88280ea08ed959b508893967bf922cf8c4cb5139a9c010da4e5f1c58dd0cb','0b964055e86ef10eb669d6dabcc9b34d8179e39b957c8a38407b704e0ccae4c7');
INSERT INTO "events" VALUES(131,'study:trial',129,'2025-06-04T12:05:04.124Z','R3','case read','{"flags":[],"position":19,"reading":"r-51c459dfd5bc732894a3a4380678cc4b","sha256":"64d04b384e20daabcbccec38add391dadde909d3463d8847e5ca9c33f3f70930"}','0b964055e86ef10eb669d6dabcc9b34d8179e39b957c8a38407b704e0ccae4c7','0c97fd65886b887eaa46aafe9d810f6f0133b78cf13348388114b9652fe2a6aa');
INSERT INTO "events" VALUES(132,'study:trial',130,'2025-06-04T12:05:04.374Z','R3','case presented','{"presentation":"p-8e97120d7d17c8dd7384ba689977f830","sha256":"9b98fbb8951716bef7839f5cff70a374fa9bf2c7b63e90353f20ea5160b795da"}','0c97fd65886b887eaa46aafe9d810f6f0133b78cf13348388114b9652fe2a6aa','7782e89fdb30168615a48f5b022e15f85051485b72c61c48241d108b6bbe0264');
INSERT INTO "events" VALUES(133,'study:trial',131,'2025-06-04T12:05:26.335Z','R3','case read','{"flags":[],"position":20,"reading":"r-8e97120d7d17c8dd7384ba689977f830","sha256":"88186bc5c34e11738b152910d14828cdfabdde2785a2c2fbf074745b7d58c29b"}','7782e89fdb30168615a48f5b022e15f85051485b72c61c48241d108b6bbe0264','3c1e5b602ec9020719a57fa6ec48359e780651a8a5a04e9a7a0b14b162ba953c');
INSERT INTO "events" VALUES(134,'study:trial',132,'2025-06-04T12:00:00.000Z','coordinator','model added','{"model_id":"M1","model_version":"","n_predictions":8,"predictions_sha256":"f9ed982a977e78b1b01f3a25674ae5ed4a1ebdee9841451ebeab48d1ce99b7d4","simulated":false,"source":"M1.json","source_sha256":"ecab16bfd3266819aa96e1700707320ff6ef5a5b649420e44ec596bb0d277880"}','3c1e5b602ec9020719a57fa6ec48359e780651a8a5a04e9a7a0b14b162ba953c','1fa0791c39c378c3621dfe72eb37b5ffaf5878072a5d785cd44421c4f149533a');
INSERT INTO "events" VALUES(135,'study:trial',133,'2025-06-04T12:00:00.000Z','coordinator','model added','{"model_id":"M2","model_version":"","n_predictions":8,"predictions_sha256":"f9ed982a977e78b1b01f3a25674ae5ed4a1ebdee9841451ebeab48d1ce99b7d4","simulated":false,"source":"M2.json","source_sha256":"ecab16bfd3266819aa96e1700707320ff6ef5a5b649420e44ec596bb0d277880"}','1fa0791c39c378c3621dfe72eb37b5ffaf5878072a5d785cd44421c4f149533a','d9fe63f81f69a92090bbb84afa6a2d02580dc037477b0e2af4a4211296d491f9');
INSERT INTO "events" VALUES(136,'study:trial',134,'2025-06-04T12:00:00.000Z','coordinator','model withdrawn','{"model_id":"M2","new":"withdrawn","old":"counts","reason":"The wrong file"}','d9fe63f81f69a92090bbb84afa6a2d02580dc037477b0e2af4a4211296d491f9','1fab6ef873d2db4ef2c0435d6ddf7b91962d1b4d960b87bd4afbb7816e0b540a');
INSERT INTO "events" VALUES(137,'study:trial',135,'2025-06-04T12:00:00.000Z','coordinator','study closed','{"n_cases":8,"n_models":1,"n_readers":3,"new":"closed","old":"open","readers":{"finished":3,"not begun":0,"reading":0,"withdrawn":0},"readings":{"n_answered":60,"n_assigned":60,"n_excluded":0,"n_missing":0,"n_read":60,"n_skipped":0,"n_timed_out":0},"reason":"Reading is over"}','1fab6ef873d2db4ef2c0435d6ddf7b91962d1b4d960b87bd4afbb7816e0b540a','2179aa14f544a68af3142e4b35300eafffabe49b70b9c6e161d21be4e817ae9b');
CREATE TABLE exclusions (
    id TEXT PRIMARY KEY,
    reading TEXT NOT NULL REFERENCES readings (id),
    excluded INTEGER NOT NULL CHECK (excluded IN (0, 1)),
    reason TEXT NOT NULL CHECK (reason <> ''),
    actor TEXT NOT NULL,
    at_utc TEXT NOT NULL
) STRICT;
CREATE TABLE explanations (
    item INTEGER PRIMARY KEY REFERENCES items (id),
    words TEXT NOT NULL
) STRICT;
INSERT INTO "explanations" VALUES(1,'EXPLANATION-NOBODY-MAY-SEE');
INSERT INTO "explanations" VALUES(2,'EXPLANATION-NOBODY-MAY-SEE');
INSERT INTO "explanations" VALUES(3,'EXPLANATION-NOBODY-MAY-SEE');
INSERT INTO "explanations" VALUES(4,'EXPLANATION-NOBODY-MAY-SEE');
INSERT INTO "explanations" VALUES(5,'EXPLANATION-NOBODY-MAY-SEE');
INSERT INTO "explanations" VALUES(6,'EXPLANATION-NOBODY-MAY-SEE');
INSERT INTO "explanations" VALUES(7,'EXPLANATION-NOBODY-MAY-SEE');
INSERT INTO "explanations" VALUES(8,'EXPLANATION-NOBODY-MAY-SEE');
INSERT INTO "explanations" VALUES(9,'EXPLANATION-NOBODY-MAY-SEE');
INSERT INTO "explanations" VALUES(10,'EXPLANATION-NOBODY-MAY-SEE');
INSERT INTO "explanations" VALUES(11,'EXPLANATION-NOBODY-MAY-SEE');
INSERT INTO "explanations" VALUES(12,'EXPLANATION-NOBODY-MAY-SEE');
INSERT INTO "explanations" VALUES(13,'EXPLANATION-NOBODY-MAY-SEE');
INSERT INTO "explanations" VALUES(14,'EXPLANATION-NOBODY-MAY-SEE');
INSERT INTO "explanations" VALUES(15,'EXPLANATION-NOBODY-MAY-SEE');
INSERT INTO "explanations" VALUES(16,'EXPLANATION-NOBODY-MAY-SEE');
INSERT INTO "explanations" VALUES(17,'EXPLANATION-NOBODY-MAY-SEE');
INSERT INTO "explanations" VALUES(18,'EXPLANATION-NOBODY-MAY-SEE');
INSERT INTO "explanations" VALUES(19,'EXPLANATION-NOBODY-MAY-SEE');
INSERT INTO "explanations" VALUES(20,'EXPLANATION-NOBODY-MAY-SEE');
INSERT INTO "explanations" VALUES(21,'EXPLANATION-NOBODY-MAY-SEE');
INSERT INTO "explanations" VALUES(22,'EXPLANATION-NOBODY-MAY-SEE');
INSERT INTO "explanations" VALUES(23,'EXPLANATION-NOBODY-MAY-SEE');
INSERT INTO "explanations" VALUES(24,'EXPLANATION-NOBODY-MAY-SEE');
CREATE TABLE exposure_marks (
    mark INTEGER NOT NULL,
    bank INTEGER NOT NULL REFERENCES banks (id),
    PRIMARY KEY (mark, bank)
) STRICT, WITHOUT ROWID;
INSERT INTO "exposure_marks" VALUES(-9098913523579054530,1);
INSERT INTO "exposure_marks" VALUES(-9019761307870182700,1);
INSERT INTO "exposure_marks" VALUES(-8963904561897991812,1);
INSERT INTO "exposure_marks" VALUES(-8900013796776941931,1);
INSERT INTO "exposure_marks" VALUES(-8897552886701494972,1);
INSERT INTO "exposure_marks" VALUES(-8887299595275236201,1);
INSERT INTO "exposure_marks" VALUES(-8588784795045811525,1);
INSERT INTO "exposure_marks" VALUES(-8580863288635361992,1);
INSERT INTO "exposure_marks" VALUES(-8381384174282583451,1);
INSERT INTO "exposure_marks" VALUES(-8161035426989005932,1);
INSERT INTO "exposure_marks" VALUES(-7950956870753578259,1);
INSERT INTO "exposure_marks" VALUES(-7930042115031874500,1);
INSERT INTO "exposure_marks" VALUES(-7886603960603894213,1);
INSERT INTO "exposure_marks" VALUES(-7876367323487053840,1);
INSERT INTO "exposure_marks" VALUES(-7549965756552466363,1);
INSERT INTO "exposure_marks" VALUES(-6952615070887964567,1);
INSERT INTO "exposure_marks" VALUES(-6714751081478503974,1);
INSERT INTO "exposure_marks" VALUES(-6306625285564097361,1);
INSERT INTO "exposure_marks" VALUES(-6245276262603905493,1);
INSERT INTO "exposure_marks" VALUES(-6115771586289729962,1);
INSERT INTO "exposure_marks" VALUES(-6083366344878909578,1);
INSERT INTO "exposure_marks" VALUES(-5847918316375786313,1);
INSERT INTO "exposure_marks" VALUES(-5803039234793258448,1);
INSERT INTO "exposure_marks" VALUES(-5127718568636368691,1);
INSERT INTO "exposure_marks" VALUES(-4605910058589471295,1);
INSERT INTO "exposure_marks" VALUES(-4519157934836143123,1);
INSERT INTO "exposure_marks" VALUES(-4509265891839617124,1);
INSERT INTO "exposure_marks" VALUES(-4496980197014690412,1);
INSERT INTO "exposure_marks" VALUES(-4375999071115146007,1);
INSERT INTO "exposure_marks" VALUES(-4336051588158083005,1);
INSERT INTO "exposure_marks" VALUES(-4200982227044785799,1);
INSERT INTO "exposure_marks" VALUES(-4109162183486596711,1);
INSERT INTO "exposure_marks" VALUES(-4046971896262332649,1);
INSERT INTO "exposure_marks" VALUES(-4044786798006163645,1);
INSERT INTO "exposure_marks" VALUES(-3845369638515847501,1);
INSERT INTO "exposure_marks" VALUES(-3827907851258356197,1);
INSERT INTO "exposure_marks" VALUES(-3660330722649252404,1);
INSERT INTO "exposure_marks" VALUES(-3354744495478536760,1);
INSERT INTO "exposure_marks" VALUES(-3315946940178590050,1);
INSERT INTO "exposure_marks" VALUES(-3187241348878541458,1);
INSERT INTO "exposure_marks" VALUES(-3112071193264277347,1);
INSERT INTO "exposure_marks" VALUES(-2694096165780669574,1);
INSERT INTO "exposure_marks" VALUES(-2305702320523407852,1);
INSERT INTO "exposure_marks" VALUES(-2260270463403937709,1);
INSERT INTO "exposure_marks" VALUES(-1773671255112676459,1);
INSERT INTO "exposure_marks" VALUES(-1688556919503023191,1);
INSERT INTO "exposure_marks" VALUES(-1286570087328997249,1);
INSERT INTO "exposure_marks" VALUES(-1033313215009030167,1);
INSERT INTO "exposure_marks" VALUES(-1019217804760312092,1);
INSERT INTO "exposure_marks" VALUES(-491942699763553260,1);
INSERT INTO "exposure_marks" VALUES(-491902238167671524,1);
INSERT INTO "exposure_marks" VALUES(-225005560927013163,1);
INSERT INTO "exposure_marks" VALUES(217711578952736068,1);
INSERT INTO "exposure_marks" VALUES(222247259486774574,1);
INSERT INTO "exposure_marks" VALUES(610924547486329035,1);
INSERT INTO "exposure_marks" VALUES(777185679080095666,1);
INSERT INTO "exposure_marks" VALUES(836874445252834001,1);
INSERT INTO "exposure_marks" VALUES(1081222744991477870,1);
INSERT INTO "exposure_marks" VALUES(1257771825126982404,1);
INSERT INTO "exposure_marks" VALUES(1301858386078992929,1);
INSERT INTO "exposure_marks" VALUES(1363041186164569708,1);
INSERT INTO "exposure_marks" VALUES(1383703205277676656,1);
INSERT INTO "exposure_marks" VALUES(1422940763888804964,1);
INSERT INTO "exposure_marks" VALUES(1835990828977376533,1);
INSERT INTO "exposure_marks" VALUES(1876093694545997563,1);
INSERT INTO "exposure_marks" VALUES(1949817259157252096,1);
INSERT INTO "exposure_marks" VALUES(2263685320923563509,1);
INSERT INTO "exposure_marks" VALUES(2339924791495717201,1);
INSERT INTO "exposure_marks" VALUES(2342595489245833637,1);
INSERT INTO "exposure_marks" VALUES(2357937704032816649,1);
INSERT INTO "exposure_marks" VALUES(2708575590873166413,1);
INSERT INTO "exposure_marks" VALUES(2718698326018659461,1);
INSERT INTO "exposure_marks" VALUES(2917487563574109550,1);
INSERT INTO "exposure_marks" VALUES(3215401825266655324,1);
INSERT INTO "exposure_marks" VALUES(3270754385729967359,1);
INSERT INTO "exposure_marks" VALUES(3306824679545445220,1);
INSERT INTO "exposure_marks" VALUES(3420960408796540371,1);
INSERT INTO "exposure_marks" VALUES(3675982830326378237,1);
INSERT INTO "exposure_marks" VALUES(4106248821491639806,1);
INSERT INTO "exposure_marks" VALUES(4206381872368233123,1);
INSERT INTO "exposure_marks" VALUES(4317100250192857109,1);
INSERT INTO "exposure_marks" VALUES(4401239453679546868,1);
INSERT INTO "exposure_marks" VALUES(4703065070297411754,1);
INSERT INTO "exposure_marks" VALUES(4781355933121422688,1);
INSERT INTO "exposure_marks" VALUES(4946261727307202376,1);
INSERT INTO "exposure_marks" VALUES(5290287572767892765,1);
INSERT INTO "exposure_marks" VALUES(5441104771784322783,1);
INSERT INTO "exposure_marks" VALUES(5510179227706080363,1);
INSERT INTO "exposure_marks" VALUES(5742734638155845576,1);
INSERT INTO "exposure_marks" VALUES(5816411872560871917,1);
INSERT INTO "exposure_marks" VALUES(6074405356692940500,1);
INSERT INTO "exposure_marks" VALUES(6257634371054281744,1);
INSERT INTO "exposure_marks" VALUES(6343950279376405720,1);
INSERT INTO "exposure_marks" VALUES(6563947412321266813,1);
INSERT INTO "exposure_marks" VALUES(6832910872402985484,1);
INSERT INTO "exposure_marks" VALUES(6877766850995638913,1);
INSERT INTO "exposure_marks" VALUES(7252787679933765288,1);
INSERT INTO "exposure_marks" VALUES(7349693302794786547,1);
INSERT INTO "exposure_marks" VALUES(7376038957086729130,1);
INSERT INTO "exposure_marks" VALUES(7556034442062877320,1);
INSERT INTO "exposure_marks" VALUES(7705220351678379394,1);
INSERT INTO "exposure_marks" VALUES(8004379506779289706,1);
INSERT INTO "exposure_marks" VALUES(8342027108171001453,1);
INSERT INTO "exposure_marks" VALUES(8486896028214586682,1);
INSERT INTO "exposure_marks" VALUES(8652573698197029910,1);
INSERT INTO "exposure_marks" VALUES(8792994142371548071,1);
INSERT INTO "exposure_marks" VALUES(9063766092333511928,1);
INSERT INTO "exposure_marks" VALUES(9181263892481424943,1);
CREATE TABLE films (
    id INTEGER PRIMARY KEY,
    bank INTEGER NOT NULL REFERENCES banks (id),
    path TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    width INTEGER NOT NULL CHECK (width > 0),
    height INTEGER NOT NULL CHECK (height > 0),
    bits INTEGER NOT NULL CHECK (bits IN (8, 16)),
    low INTEGER NOT NULL,
    high INTEGER NOT NULL,
    n_bytes INTEGER NOT NULL,
    spacing_mm REAL CHECK (spacing_mm BETWEEN 0.01 AND 5),
    place TEXT NOT NULL DEFAULT '',
    UNIQUE (bank, path)
) STRICT;
INSERT INTO "films" VALUES(1,1,'films/0_pa.png','3b4cb89ce18cb3eb6eec74f27190093a3b6c5e5080b6884f4f17689d99badcc8',80,96,16,0,56980,660,NULL,'');
INSERT INTO "films" VALUES(2,1,'films/0_lat.png','f3fa1eaf49af823dee0626fef5ddf48395ff3492a2a2f7606e81e04fd6aa36dd',80,96,8,0,222,311,NULL,'');
INSERT INTO "films" VALUES(3,1,'films/1_pa.png','6fdb2115ad30a8fcf317374d428143bc86274d4b64f2c5cd945c60620c6ae747',80,96,16,31,57011,655,NULL,'');
INSERT INTO "films" VALUES(4,1,'films/1_lat.png','dff094c100a814bf5bff2b05d3f43a1e898f53b5422f67fb9a8c21bbff747e63',80,96,8,0,222,314,NULL,'');
INSERT INTO "films" VALUES(5,1,'films/2_pa.png','b4c0c1bb99c1bc8bfa09bbe413c542adfb37c7d1a07e02be4263b4668ffff3f2',80,96,16,62,57042,653,NULL,'');
INSERT INTO "films" VALUES(6,1,'films/2_lat.png','6c081b14399fb9e11afb8e484de53853abfffa13ae58d9fb36f3c4fa96457027',80,96,8,0,222,315,NULL,'');
INSERT INTO "films" VALUES(7,1,'films/3_pa.png','74979a64e8b65e947feb47b89e6c2a107e982ddad22569d53d4829972712ce24',80,96,16,93,57073,657,NULL,'');
INSERT INTO "films" VALUES(8,1,'films/3_lat.png','ec23e68ebaabdb4a41e450cd022e0ca7a66feeba7646fe5202aa2fed3ddc2a12',80,96,8,0,222,320,NULL,'');
INSERT INTO "films" VALUES(9,1,'films/4_pa.png','7bd9e45303e16f1fa27c85a9520bf166a66099eb95139dd30573b213ce814bef',80,96,16,124,57104,654,NULL,'');
INSERT INTO "films" VALUES(10,1,'films/4_lat.png','c821201da5740903eca76914fc09b4c7b8b5d340464b2729768bcad3f49cc506',80,96,8,0,223,320,NULL,'');
INSERT INTO "films" VALUES(11,1,'films/5_pa.png','97fa362752139e3e282d304f5b4831ff48696a9617c8828f162b6f93f5356b84',80,96,16,155,57135,661,NULL,'');
INSERT INTO "films" VALUES(12,1,'films/5_lat.png','63b8f04b824010df297c216d32bab99343491889b4cd57f1f42aa581073de838',80,96,8,0,223,320,NULL,'');
INSERT INTO "films" VALUES(13,1,'films/6_pa.png','8b0d51864ada3b14226e2175da9497b9d42ab69cac020ff62844e57222c21c93',80,96,16,186,57166,660,NULL,'');
INSERT INTO "films" VALUES(14,1,'films/6_lat.png','faa594c89eac94d930791c174237a09a02e6f4bd90535f7b330f251940b23b15',80,96,8,0,223,315,NULL,'');
INSERT INTO "films" VALUES(15,1,'films/7_pa.png','4dadc8bf9fb9acfa60ae09dcfcc9c76750f310b3c9f1788c3b1351eb473ed5c0',80,96,16,217,57197,662,NULL,'');
INSERT INTO "films" VALUES(16,1,'films/7_lat.png','2cfe89463acca7c31b73e4c73503afc78df0528a095ebfe5e38d28fe250f6d1e',80,96,8,0,223,310,NULL,'');
INSERT INTO "films" VALUES(17,1,'films/8_pa.png','bd33eb3b7992215f39fafde4f36b3940afc1609d8e29a771df2d53fc3acc93f4',80,96,16,248,57228,656,NULL,'');
INSERT INTO "films" VALUES(18,1,'films/8_lat.png','b7644e3bcda7e975d99481c5f2dce38331251fff38757ea71fded51fa7fb6e94',80,96,8,0,223,315,NULL,'');
INSERT INTO "films" VALUES(19,1,'films/9_pa.png','6bddb10c1a0c911bbcd27af8ed222c829130157ae828b2ce026f129c40e456ea',80,96,16,279,57259,664,NULL,'');
INSERT INTO "films" VALUES(20,1,'films/9_lat.png','39a411f865f81f3f87c730ef425aa573843f2f9446213731a73f5af45233bb41',80,96,8,1,223,315,NULL,'');
INSERT INTO "films" VALUES(21,1,'films/10_pa.png','04e42b802ab4b2a0fb79ee3a30643d7883f39e09d323577445bc85f28bab46db',80,96,16,310,57290,659,NULL,'');
INSERT INTO "films" VALUES(22,1,'films/10_lat.png','8ea92ef58bba79727258da910ed22992f2a25a57fcc91ae939f6a0f79ddd322b',80,96,8,1,223,317,NULL,'');
INSERT INTO "films" VALUES(23,1,'films/11_pa.png','a05ba2790156d8cbca47eaf8f7dae42eca5677965da0179fbb1f7c86e1bfcef2',80,96,16,341,57321,662,NULL,'');
INSERT INTO "films" VALUES(24,1,'films/11_lat.png','c9754451d013acdfaeae9e90de9e918a9e3e4570a0803352c237bd1e56d97a66',80,96,8,1,223,310,NULL,'');
CREATE TABLE grants (
    id INTEGER PRIMARY KEY,
    person INTEGER NOT NULL REFERENCES people (id),
    role TEXT NOT NULL CHECK (
        role IN ('administrator', 'coordinator', 'reader', 'reviewer', 'statistician')
    ),
    study INTEGER REFERENCES studies (id),
    reader INTEGER REFERENCES readers (id),
    given_at_utc TEXT NOT NULL,
    revoked_at_utc TEXT,
    CHECK ((role = 'reader') = (reader IS NOT NULL)),
    CHECK (study IS NOT NULL OR role IN ('administrator', 'coordinator', 'reviewer'))
) STRICT;
INSERT INTO "grants" VALUES(1,1,'reader',1,1,'2025-06-04T12:00:00.000Z',NULL);
INSERT INTO "grants" VALUES(2,2,'reader',1,2,'2025-06-04T12:00:00.000Z',NULL);
INSERT INTO "grants" VALUES(3,3,'reader',1,3,'2025-06-04T12:00:00.000Z',NULL);
CREATE TABLE group_grants (
    grant_id INTEGER PRIMARY KEY REFERENCES grants (id),
    issuer TEXT NOT NULL CHECK (issuer <> '')
) STRICT;
CREATE TABLE identities (
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    person INTEGER NOT NULL REFERENCES people (id),
    bound_at_utc TEXT NOT NULL,
    PRIMARY KEY (issuer, subject)
) STRICT;
CREATE TABLE interventions (
    id INTEGER PRIMARY KEY,
    study INTEGER NOT NULL REFERENCES studies (id),
    reader INTEGER REFERENCES readers (id),
    kind TEXT NOT NULL CHECK (kind IN ('pause', 'resume', 'extend', 'release', 'withdraw')),
    session INTEGER CHECK (session > 0),
    days REAL CHECK (days > 0),
    reason TEXT NOT NULL CHECK (reason <> ''),
    actor TEXT NOT NULL,
    at_utc TEXT NOT NULL,
    CHECK (reader IS NOT NULL OR kind IN ('pause', 'resume')),
    CHECK ((kind IN ('extend', 'release')) = (session IS NOT NULL)),
    CHECK ((kind = 'extend') = (days IS NOT NULL))
) STRICT;
CREATE TABLE item_attributes (
    item INTEGER PRIMARY KEY REFERENCES items (id),
    attributes TEXT NOT NULL CHECK (json_valid(attributes))
) STRICT;
CREATE TABLE item_priors (
    item INTEGER NOT NULL REFERENCES items (id),
    position INTEGER NOT NULL CHECK (position > 0),
    film INTEGER REFERENCES films (id),
    label TEXT NOT NULL,
    said TEXT NOT NULL DEFAULT '',
    days INTEGER CHECK (days >= 0),
    PRIMARY KEY (item, position)
) STRICT;
CREATE TABLE item_views (
    item INTEGER NOT NULL REFERENCES items (id),
    position INTEGER NOT NULL CHECK (position > 0),
    film INTEGER NOT NULL REFERENCES films (id),
    label TEXT NOT NULL,
    said TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (item, position)
) STRICT;
INSERT INTO "item_views" VALUES(1,1,1,'PA','');
INSERT INTO "item_views" VALUES(1,2,2,'LATERAL','');
INSERT INTO "item_views" VALUES(2,1,1,'PA','');
INSERT INTO "item_views" VALUES(2,2,2,'LATERAL','');
INSERT INTO "item_views" VALUES(3,1,3,'PA','');
INSERT INTO "item_views" VALUES(3,2,4,'LATERAL','');
INSERT INTO "item_views" VALUES(4,1,3,'PA','');
INSERT INTO "item_views" VALUES(4,2,4,'LATERAL','');
INSERT INTO "item_views" VALUES(5,1,5,'PA','');
INSERT INTO "item_views" VALUES(5,2,6,'LATERAL','');
INSERT INTO "item_views" VALUES(6,1,5,'PA','');
INSERT INTO "item_views" VALUES(6,2,6,'LATERAL','');
INSERT INTO "item_views" VALUES(7,1,7,'PA','');
INSERT INTO "item_views" VALUES(7,2,8,'LATERAL','');
INSERT INTO "item_views" VALUES(8,1,7,'PA','');
INSERT INTO "item_views" VALUES(8,2,8,'LATERAL','');
INSERT INTO "item_views" VALUES(9,1,9,'PA','');
INSERT INTO "item_views" VALUES(9,2,10,'LATERAL','');
INSERT INTO "item_views" VALUES(10,1,9,'PA','');
INSERT INTO "item_views" VALUES(10,2,10,'LATERAL','');
INSERT INTO "item_views" VALUES(11,1,11,'PA','');
INSERT INTO "item_views" VALUES(11,2,12,'LATERAL','');
INSERT INTO "item_views" VALUES(12,1,11,'PA','');
INSERT INTO "item_views" VALUES(12,2,12,'LATERAL','');
INSERT INTO "item_views" VALUES(13,1,13,'PA','');
INSERT INTO "item_views" VALUES(13,2,14,'LATERAL','');
INSERT INTO "item_views" VALUES(14,1,13,'PA','');
INSERT INTO "item_views" VALUES(14,2,14,'LATERAL','');
INSERT INTO "item_views" VALUES(15,1,15,'PA','');
INSERT INTO "item_views" VALUES(15,2,16,'LATERAL','');
INSERT INTO "item_views" VALUES(16,1,15,'PA','');
INSERT INTO "item_views" VALUES(16,2,16,'LATERAL','');
INSERT INTO "item_views" VALUES(17,1,17,'PA','');
INSERT INTO "item_views" VALUES(17,2,18,'LATERAL','');
INSERT INTO "item_views" VALUES(18,1,17,'PA','');
INSERT INTO "item_views" VALUES(18,2,18,'LATERAL','');
INSERT INTO "item_views" VALUES(19,1,19,'PA','');
INSERT INTO "item_views" VALUES(19,2,20,'LATERAL','');
INSERT INTO "item_views" VALUES(20,1,19,'PA','');
INSERT INTO "item_views" VALUES(20,2,20,'LATERAL','');
INSERT INTO "item_views" VALUES(21,1,21,'PA','');
INSERT INTO "item_views" VALUES(21,2,22,'LATERAL','');
INSERT INTO "item_views" VALUES(22,1,21,'PA','');
INSERT INTO "item_views" VALUES(22,2,22,'LATERAL','');
INSERT INTO "item_views" VALUES(23,1,23,'PA','');
INSERT INTO "item_views" VALUES(23,2,24,'LATERAL','');
INSERT INTO "item_views" VALUES(24,1,23,'PA','');
INSERT INTO "item_views" VALUES(24,2,24,'LATERAL','');
CREATE TABLE items (
    id INTEGER PRIMARY KEY,
    bank INTEGER NOT NULL REFERENCES banks (id),
    item_id TEXT NOT NULL CHECK (item_id <> ''),
    question TEXT NOT NULL CHECK (question <> ''),
    options TEXT NOT NULL CHECK (json_array_length(options) BETWEEN 2 AND 8),
    task TEXT NOT NULL,
    category TEXT NOT NULL,
    subcategory TEXT NOT NULL,
    examination_id TEXT NOT NULL,
    patient_id TEXT NOT NULL,
    age TEXT NOT NULL,
    sex TEXT NOT NULL,
    origin TEXT NOT NULL DEFAULT '',
    UNIQUE (bank, item_id)
) STRICT;
INSERT INTO "items" VALUES(1,1,'q0000','Which finding is present in film 0?','["Finding A0","Finding B0","Finding C0","Finding D0"]','Presence Assessment','Category 0','','S0','P0','40 years','male','');
INSERT INTO "items" VALUES(2,1,'q0001','Which finding is present in film 1?','["Finding A1","Finding B1","Finding C1","Finding D1"]','Negation Assessment','Category 1','','S0','P0','40 years','male','');
INSERT INTO "items" VALUES(3,1,'q0002','Which finding is present in film 2?','["Finding A2","Finding B2","Finding C2","Finding D2"]','Differential Diagnosis','Category 0','','S1','P1','41 years','female','');
INSERT INTO "items" VALUES(4,1,'q0003','Which finding is present in film 3?','["Finding A0","Finding B0","Finding C0","Finding D0"]','Location and Distribution Assessment','Category 1','','S1','P1','41 years','female','');
INSERT INTO "items" VALUES(5,1,'q0004','Which finding is present in film 4?','["Finding A1","Finding B1","Finding C1","Finding D1"]','Geometric Information Assessment','Category 0','','S2','P2','42 years','male','');
INSERT INTO "items" VALUES(6,1,'q0005','Which finding is present in film 5?','["Finding A2","Finding B2","Finding C2","Finding D2"]','Presence Assessment','Category 1','','S2','P2','42 years','male','');
INSERT INTO "items" VALUES(7,1,'q0006','Which finding is present in film 6?','["Finding A0","Finding B0","Finding C0","Finding D0"]','Negation Assessment','Category 0','','S3','P3','43 years','female','');
INSERT INTO "items" VALUES(8,1,'q0007','Which finding is present in film 7?','["Finding A1","Finding B1","Finding C1","Finding D1"]','Differential Diagnosis','Category 1','','S3','P3','43 years','female','');
INSERT INTO "items" VALUES(9,1,'q0008','Which finding is present in film 8?','["Finding A2","Finding B2","Finding C2","Finding D2"]','Location and Distribution Assessment','Category 0','','S4','P4','44 years','male','');
INSERT INTO "items" VALUES(10,1,'q0009','Which finding is present in film 9?','["Finding A0","Finding B0","Finding C0","Finding D0"]','Geometric Information Assessment','Category 1','','S4','P4','44 years','male','');
INSERT INTO "items" VALUES(11,1,'q0010','Which finding is present in film 10?','["Finding A1","Finding B1","Finding C1","Finding D1"]','Presence Assessment','Category 0','','S5','P5','45 years','female','');
INSERT INTO "items" VALUES(12,1,'q0011','Which finding is present in film 11?','["Finding A2","Finding B2","Finding C2","Finding D2"]','Negation Assessment','Category 1','','S5','P5','45 years','female','');
INSERT INTO "items" VALUES(13,1,'q0012','Which finding is present in film 12?','["Finding A0","Finding B0","Finding C0","Finding D0"]','Differential Diagnosis','Category 0','','S6','P6','46 years','male','');
INSERT INTO "items" VALUES(14,1,'q0013','Which finding is present in film 13?','["Finding A1","Finding B1","Finding C1","Finding D1"]','Location and Distribution Assessment','Category 1','','S6','P6','46 years','male','');
INSERT INTO "items" VALUES(15,1,'q0014','Which finding is present in film 14?','["Finding A2","Finding B2","Finding C2","Finding D2"]','Geometric Information Assessment','Category 0','','S7','P7','47 years','female','');
INSERT INTO "items" VALUES(16,1,'q0015','Which finding is present in film 15?','["Finding A0","Finding B0","Finding C0","Finding D0"]','Presence Assessment','Category 1','','S7','P7','47 years','female','');
INSERT INTO "items" VALUES(17,1,'q0016','Which finding is present in film 16?','["Finding A1","Finding B1","Finding C1","Finding D1"]','Negation Assessment','Category 0','','S8','P8','48 years','male','');
INSERT INTO "items" VALUES(18,1,'q0017','Which finding is present in film 17?','["Finding A2","Finding B2","Finding C2","Finding D2"]','Differential Diagnosis','Category 1','','S8','P8','48 years','male','');
INSERT INTO "items" VALUES(19,1,'q0018','Which finding is present in film 18?','["Finding A0","Finding B0","Finding C0","Finding D0"]','Location and Distribution Assessment','Category 0','','S9','P9','49 years','female','');
INSERT INTO "items" VALUES(20,1,'q0019','Which finding is present in film 19?','["Finding A1","Finding B1","Finding C1","Finding D1"]','Geometric Information Assessment','Category 1','','S9','P9','49 years','female','');
INSERT INTO "items" VALUES(21,1,'q0020','Which finding is present in film 20?','["Finding A2","Finding B2","Finding C2","Finding D2"]','Presence Assessment','Category 0','','S10','P10','50 years','male','');
INSERT INTO "items" VALUES(22,1,'q0021','Which finding is present in film 21?','["Finding A0","Finding B0","Finding C0","Finding D0"]','Negation Assessment','Category 1','','S10','P10','50 years','male','');
INSERT INTO "items" VALUES(23,1,'q0022','Which finding is present in film 22?','["Finding A1","Finding B1","Finding C1","Finding D1"]','Differential Diagnosis','Category 0','','S11','P11','51 years','female','');
INSERT INTO "items" VALUES(24,1,'q0023','Which finding is present in film 23?','["Finding A2","Finding B2","Finding C2","Finding D2"]','Location and Distribution Assessment','Category 1','','S11','P11','51 years','female','');
CREATE TABLE models (
    id INTEGER PRIMARY KEY,
    study INTEGER NOT NULL REFERENCES studies (id),
    model_id TEXT NOT NULL CHECK (model_id <> ''),
    model_version TEXT NOT NULL,
    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
    source_name TEXT NOT NULL,
    source_sha256 TEXT NOT NULL,
    added_at_utc TEXT NOT NULL,
    edition INTEGER NOT NULL DEFAULT 1 CHECK (edition > 0),
    synthetic INTEGER NOT NULL DEFAULT 0 CHECK (synthetic IN (0, 1)),
    UNIQUE (study, model_id, edition)
) STRICT;
INSERT INTO "models" VALUES(1,1,'M1','',0,'M1.json','ecab16bfd3266819aa96e1700707320ff6ef5a5b649420e44ec596bb0d277880','2025-06-04T12:00:00.000Z',1,0);
INSERT INTO "models" VALUES(2,1,'M2','',0,'M2.json','ecab16bfd3266819aa96e1700707320ff6ef5a5b649420e44ec596bb0d277880','2025-06-04T12:00:00.000Z',1,0);
CREATE TABLE names (
    person INTEGER PRIMARY KEY REFERENCES people (id),
    name TEXT NOT NULL,
    email TEXT NOT NULL,
    CHECK (name <> '' OR email <> '')
) STRICT;
CREATE TABLE people (
    id INTEGER PRIMARY KEY,
    handle TEXT NOT NULL,
    made_at_utc TEXT NOT NULL,
    seen_at_utc TEXT
) STRICT;
INSERT INTO "people" VALUES(1,'','2025-06-04T12:00:00.000Z',NULL);
INSERT INTO "people" VALUES(2,'','2025-06-04T12:00:00.000Z',NULL);
INSERT INTO "people" VALUES(3,'','2025-06-04T12:00:00.000Z',NULL);
CREATE TABLE places (
    mark TEXT PRIMARY KEY,
    address TEXT NOT NULL,
    agent TEXT NOT NULL,
    first_seen_at_utc TEXT NOT NULL
) STRICT;
CREATE TABLE practice_assignments (
    id TEXT PRIMARY KEY,
    reader INTEGER NOT NULL REFERENCES readers (id),
    practice_case INTEGER NOT NULL REFERENCES practice_cases (id),
    condition TEXT NOT NULL,
    position INTEGER NOT NULL CHECK (position > 0),
    shown_order TEXT NOT NULL,
    UNIQUE (reader, practice_case),
    UNIQUE (reader, position)
) STRICT;
CREATE TABLE practice_cases (
    id INTEGER PRIMARY KEY,
    study INTEGER NOT NULL REFERENCES studies (id),
    item INTEGER NOT NULL REFERENCES items (id),
    number INTEGER NOT NULL CHECK (number > 0),
    UNIQUE (study, item),
    UNIQUE (study, number)
) STRICT;
CREATE TABLE practice_readings (
    id TEXT PRIMARY KEY,
    assignment TEXT NOT NULL UNIQUE REFERENCES practice_assignments (id),
    answer TEXT,
    status TEXT NOT NULL CHECK (status IN ('answered', 'skipped', 'timed_out')),
    reason TEXT NOT NULL,
    confidence INTEGER CHECK (confidence > 0),
    comment TEXT NOT NULL,
    response_ms REAL CHECK (response_ms >= 0),
    elapsed_ms REAL CHECK (elapsed_ms >= 0),
    hidden_ms REAL CHECK (hidden_ms >= 0),
    paused_ms REAL CHECK (paused_ms >= 0),
    first_selection_ms REAL CHECK (first_selection_ms >= 0),
    selections TEXT NOT NULL CHECK (json_valid(selections)),
    behaviour TEXT NOT NULL CHECK (json_valid(behaviour)),
    flags TEXT NOT NULL CHECK (json_valid(flags)),
    committed_at_utc TEXT NOT NULL,
    received_at_utc TEXT NOT NULL,
    CHECK ((status = 'answered') = (answer IS NOT NULL)),
    CHECK ((status = 'skipped') = (reason <> ''))
) STRICT;
CREATE TABLE predictions (
    model INTEGER NOT NULL REFERENCES models (id),
    case_id INTEGER NOT NULL REFERENCES cases (id),
    answer TEXT,
    status TEXT NOT NULL CHECK (status IN ('answered', 'skipped', 'unparsed', 'refused')),
    raw_answer TEXT NOT NULL,
    condition TEXT NOT NULL DEFAULT '',
    run TEXT NOT NULL DEFAULT '',
    repeat INTEGER NOT NULL DEFAULT 1 CHECK (repeat > 0),
    confidence REAL CHECK (confidence BETWEEN 0 AND 1),
    detail TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(detail)),
    CHECK ((status = 'answered') = (answer IS NOT NULL)),
    PRIMARY KEY (model, case_id, condition, repeat)
) STRICT;
INSERT INTO "predictions" VALUES(1,4,'B','answered','B','','',1,NULL,'{"parser":6,"rule":"whole"}');
INSERT INTO "predictions" VALUES(1,8,'C','answered','C','','',1,NULL,'{"parser":6,"rule":"whole"}');
INSERT INTO "predictions" VALUES(1,1,'B','answered','B','','',1,NULL,'{"parser":6,"rule":"whole"}');
INSERT INTO "predictions" VALUES(1,6,'B','answered','B','','',1,NULL,'{"parser":6,"rule":"whole"}');
INSERT INTO "predictions" VALUES(1,7,'A','answered','A','','',1,NULL,'{"parser":6,"rule":"whole"}');
INSERT INTO "predictions" VALUES(1,2,'B','answered','B','','',1,NULL,'{"parser":6,"rule":"whole"}');
INSERT INTO "predictions" VALUES(1,3,'C','answered','C','','',1,NULL,'{"parser":6,"rule":"whole"}');
INSERT INTO "predictions" VALUES(1,5,'C','answered','C','','',1,NULL,'{"parser":6,"rule":"whole"}');
INSERT INTO "predictions" VALUES(2,4,'B','answered','B','','',1,NULL,'{"parser":6,"rule":"whole"}');
INSERT INTO "predictions" VALUES(2,8,'C','answered','C','','',1,NULL,'{"parser":6,"rule":"whole"}');
INSERT INTO "predictions" VALUES(2,1,'B','answered','B','','',1,NULL,'{"parser":6,"rule":"whole"}');
INSERT INTO "predictions" VALUES(2,6,'B','answered','B','','',1,NULL,'{"parser":6,"rule":"whole"}');
INSERT INTO "predictions" VALUES(2,7,'A','answered','A','','',1,NULL,'{"parser":6,"rule":"whole"}');
INSERT INTO "predictions" VALUES(2,2,'B','answered','B','','',1,NULL,'{"parser":6,"rule":"whole"}');
INSERT INTO "predictions" VALUES(2,3,'C','answered','C','','',1,NULL,'{"parser":6,"rule":"whole"}');
INSERT INTO "predictions" VALUES(2,5,'C','answered','C','','',1,NULL,'{"parser":6,"rule":"whole"}');
CREATE TABLE preparations (
    id TEXT PRIMARY KEY,
    reader INTEGER NOT NULL REFERENCES readers (id),
    step TEXT NOT NULL CHECK (step IN ('consent', 'instructions', 'questionnaire', 'display')),
    sign_in TEXT NOT NULL,
    detail TEXT NOT NULL CHECK (json_valid(detail)),
    done_at_utc TEXT,
    received_at_utc TEXT NOT NULL,
    salt TEXT NOT NULL,
    CHECK (step = 'display' OR sign_in = ''),
    UNIQUE (reader, step, sign_in)
) STRICT;
CREATE TABLE presentations (
    id TEXT PRIMARY KEY,
    assignment TEXT NOT NULL UNIQUE REFERENCES assignments (id),
    shown_at_utc TEXT NOT NULL,
    received_at_utc TEXT NOT NULL,
    circumstances TEXT NOT NULL CHECK (json_valid(circumstances))
) STRICT;
INSERT INTO "presentations" VALUES('p-b7b74b392fe43abb82f3bd7be3c21474','69b185fd9941634049afd92d','2025-06-04T12:00:00.250Z','2025-06-04T12:00:00.250Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-381e2f58e9b95f8c6910692ad17ecd47','0ef070103cd5f8a72ef2e21a','2025-06-04T12:00:54.792Z','2025-06-04T12:00:54.792Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-bcdf1908af5c71642da18e70714d0169','c938fc2adca9cb5f569f8581','2025-06-04T12:01:06.276Z','2025-06-04T12:01:06.276Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-074853e1cb6628620ee15eafa4f5f018','6ca9a976b31700a6d5afadae','2025-06-04T12:01:14.919Z','2025-06-04T12:01:14.919Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-18f88f3678f46c2b6caf5c85f8a09d19','90dd0d9368d25466936ea685','2025-06-04T12:01:50.040Z','2025-06-04T12:01:50.040Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-c6a5c88610d18a9440187f488f033dd8','7c99edb7d2f8b4a69d32f927','2025-06-04T12:02:07.148Z','2025-06-04T12:02:07.148Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-cc1310ed37ada2f73f96b3aa7a5c6ad3','479531004b2c8738c4beaea8','2025-06-04T12:02:24.388Z','2025-06-04T12:02:24.388Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-5e6268e638ab3b4b2624c93cd7b4e198','74cf1ee8df68ff77e0be1c25','2025-06-04T12:02:33.577Z','2025-06-04T12:02:33.577Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-382db0ad2bb32d1eac841b9a07b89677','b6ea3afff824bc540f130222','2025-06-04T12:02:57.420Z','2025-06-04T12:02:57.420Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-0f2cfdf7c425b64e0e8ea22ddad50bfb','a9e8e645a1de1f11e7d701b4','2025-06-04T12:03:24.695Z','2025-06-04T12:03:24.695Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-deb6dedc2be947abf128a3becbe0c293','eb5d36b4b352d7f10c77f76a','2025-06-04T12:03:36.686Z','2025-06-04T12:03:36.686Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-2ff1c02463a8daf4646403e23f8cb1d7','ec288c585f1042da1a373ff2','2025-06-04T12:04:08.941Z','2025-06-04T12:04:08.941Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-27b1f681bb69f51d92bf8238e76c43aa','b3ed8547a84c554232c71c9a','2025-06-04T12:04:47.344Z','2025-06-04T12:04:47.344Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-a8a3c3d2b6c9c08412b9d7a835d8da81','c25acd0198d9a2b69d069728','2025-06-04T12:04:56.481Z','2025-06-04T12:04:56.481Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-362761ae4ece758f53157fb75f7d3dee','1ad3cfe7ad04c9caac086767','2025-06-04T12:05:15.587Z','2025-06-04T12:05:15.587Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-fede0aabd9143445e4a0f77ac04fd4c8','453e25133d0d80ad73531b93','2025-06-04T12:05:51.859Z','2025-06-04T12:05:51.859Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-aa7561cdb2d7ad700f15f83011aeccc7','fe4c9dd0c8b5f4eae5d4dd52','2025-06-04T12:06:12.457Z','2025-06-04T12:06:12.457Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-c1e992ef5100fa2e01d7dd9e96c4993f','9513a242aabe204df0aff347','2025-06-04T12:06:33.772Z','2025-06-04T12:06:33.772Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-2d5b56453f7f02b0e0a023e0492ff666','462e002712c800f6b003dea8','2025-06-04T12:06:44.360Z','2025-06-04T12:06:44.360Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-a0f985b6a1efac0888d970588a4fa04c','1cc927e8b61c6bea0c1d1527','2025-06-04T12:07:22.738Z','2025-06-04T12:07:22.738Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-007bd61b05297265918d5c7104b8e51c','2dd82f2d0190a81d1bd60106','2025-06-04T12:00:00.250Z','2025-06-04T12:00:00.250Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-23e91dfbaea26c4c5a8a8d7f5bb8ef37','e65c00ff79f25bd0c97df065','2025-06-04T12:00:21.370Z','2025-06-04T12:00:21.370Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-5cb0913fa34cd73056b5c367b185cd27','1753a955918afa51fa32ee38','2025-06-04T12:00:34.186Z','2025-06-04T12:00:34.186Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-d1dcabd599d29c243b5034a1f03c0b85','63dd848e39744060fa2cf08f','2025-06-04T12:00:51.040Z','2025-06-04T12:00:51.040Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-26be9f7bcc21ba1789e9eae1f82f1138','6abd63398ccf1563c72a9745','2025-06-04T12:01:16.383Z','2025-06-04T12:01:16.383Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-557805e1a6328c52d5240ef84df90cea','2896626f0e7281f9e55eeca6','2025-06-04T12:01:38.180Z','2025-06-04T12:01:38.180Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-ceea7ede36cd593e3abcedb5bd5c67fe','b5bb0172c17d059a70f77e34','2025-06-04T12:01:46.038Z','2025-06-04T12:01:46.038Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-f63268880ac94017bdcbf4deaa15afbf','4cc08e1af0c989c3de7b666f','2025-06-04T12:02:05.125Z','2025-06-04T12:02:05.125Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-fe438c307fe720bfb1087c73a25f0a63','0aeba5a7269dc2ec3dd3f0c1','2025-06-04T12:02:16.604Z','2025-06-04T12:02:16.604Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-fc0e9115f825199d8dea96c6dd2326b3','045dd3afcaa86f27e00727aa','2025-06-04T12:02:24.525Z','2025-06-04T12:02:24.525Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-37647676e85f5a26cf7fc82c6347dd7c','20aecef246fcf46e7e61d211','2025-06-04T12:03:14.287Z','2025-06-04T12:03:14.287Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-dab34b2753a908e20af92a33c31caeed','23ecbba3be40c8a250321b36','2025-06-04T12:03:31.377Z','2025-06-04T12:03:31.377Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-dbf17324885d1f97dde216610d270fe8','8f45af334c096213d9ce7940','2025-06-04T12:03:55.387Z','2025-06-04T12:03:55.387Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-38f83abebee2fc5311926f28d0c77202','c39aefacd7c39f6288b1c432','2025-06-04T12:04:03.602Z','2025-06-04T12:04:03.602Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-eab3ef8515d94743503e44d9ade12078','38c4e8a38766f978b8ac013b','2025-06-04T12:04:16.903Z','2025-06-04T12:04:16.903Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-0b957dd71e48f7898497637479b28f7b','0cdaf102f5157d618a0cc36f','2025-06-04T12:04:32.583Z','2025-06-04T12:04:32.583Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-fa68141d8a88568864cd7275deaa5a1d','90d90ebcc9d2934d29972ab8','2025-06-04T12:04:48.283Z','2025-06-04T12:04:48.283Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-c697e14b3a31e275f0c8bf70625507a5','a4e65889f00e7a3f8d82bee0','2025-06-04T12:05:00.239Z','2025-06-04T12:05:00.239Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-76f852bcd257f36088d08845d70c2381','8cfdd38468538b465b29e1fa','2025-06-04T12:05:19.541Z','2025-06-04T12:05:19.541Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-bc23cc61034fda2f5deb1eaecefc754e','e1fb60e76a63a00d212d3623','2025-06-04T12:05:35.223Z','2025-06-04T12:05:35.223Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-bca51c6259b00a834944aa595296e75f','db0bea5155f4257ba2386987','2025-06-04T12:00:00.250Z','2025-06-04T12:00:00.250Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-60f0366af425476d176832931d5c3958','f1fe1986f60b7f472e3e2ce8','2025-06-04T12:00:10.369Z','2025-06-04T12:00:10.369Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-2042bd7f6e14603362b2d64eab8071d8','d22521d71acc7906931a9827','2025-06-04T12:00:17.801Z','2025-06-04T12:00:17.801Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-4a426ce5605d009ba5a49f3c139c9f28','c0f61706a9a96e2a8919755e','2025-06-04T12:00:41.747Z','2025-06-04T12:00:41.747Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-eaa2da0a07f32bed2fbcf25ca1b1dfc3','b72901272c16f0b7d2b0890a','2025-06-04T12:00:56.987Z','2025-06-04T12:00:56.987Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-1bf2727f8e74c32cee04632dd2d21d87','e10fd2eeb5d83348752787a9','2025-06-04T12:01:15.127Z','2025-06-04T12:01:15.127Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-47f914cd688347dca6d79604e160168a','be4d722242dc491515e7b6ad','2025-06-04T12:01:24.142Z','2025-06-04T12:01:24.142Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-776fa65c7e8d4956d5ca8698aba5db65','38676ef36887910058284b2f','2025-06-04T12:01:41.274Z','2025-06-04T12:01:41.274Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-1cb4eb9fecafc3e5d5963c27f3284a54','17a577209e0cac4ae9aca772','2025-06-04T12:01:56.276Z','2025-06-04T12:01:56.276Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-d74b9182ac974900132e67594973938d','3bd72224ab0f22e80dc76e26','2025-06-04T12:02:09.470Z','2025-06-04T12:02:09.470Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-7471886c988eac163ee987339f3db9df','ad16dc9ab9fb32ef8624daba','2025-06-04T12:02:24.005Z','2025-06-04T12:02:24.005Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-a95ed24f544e647c66bf5882ff74d4e9','0a78ba39d44dd985ef4c2c54','2025-06-04T12:02:42.861Z','2025-06-04T12:02:42.861Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-dd03018e476217822292b05385bf524f','803ada5cbe79319ee5cfb90f','2025-06-04T12:03:03.411Z','2025-06-04T12:03:03.411Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-9d2ea7439ad66192315fd04c6dd7a591','4f702ff800c77a33356e1169','2025-06-04T12:03:09.428Z','2025-06-04T12:03:09.428Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-5f0be0ca0cc068e8e2008be8558b3255','3ff29d1208727ae356270fe5','2025-06-04T12:03:40.528Z','2025-06-04T12:03:40.528Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-5c4b62d688d122b1e5d5bb35474ca35f','49d8360a8852c7773c256d54','2025-06-04T12:03:54.351Z','2025-06-04T12:03:54.351Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-bd781441f2a570fe5c96712a2b9ee4a3','4fcdde5ef66a29fb5b12b549','2025-06-04T12:04:34.631Z','2025-06-04T12:04:34.631Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-ac900e265eacb7ec834dff41a4c12062','7b33475500fec73d04f54e6f','2025-06-04T12:04:44.923Z','2025-06-04T12:04:44.923Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-51c459dfd5bc732894a3a4380678cc4b','b8841e3f3c9887dc14016dcf','2025-06-04T12:04:53.880Z','2025-06-04T12:04:53.880Z','{"simulated":true}');
INSERT INTO "presentations" VALUES('p-8e97120d7d17c8dd7384ba689977f830','5a17fa950cad7d090c537062','2025-06-04T12:05:04.374Z','2025-06-04T12:05:04.374Z','{"simulated":true}');
CREATE TABLE readers (
    id INTEGER PRIMARY KEY,
    study INTEGER NOT NULL REFERENCES studies (id),
    reader_id TEXT NOT NULL CHECK (reader_id <> ''),
    level TEXT NOT NULL,
    years TEXT NOT NULL,
    site TEXT NOT NULL,
    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
    invited_at_utc TEXT NOT NULL,
    arm TEXT NOT NULL DEFAULT '',
    list INTEGER CHECK (list > 0),
    UNIQUE (study, reader_id)
) STRICT;
INSERT INTO "readers" VALUES(1,1,'R1','','','',1,'2025-06-04T12:00:00.000Z','',NULL);
INSERT INTO "readers" VALUES(2,1,'R2','','','',1,'2025-06-04T12:00:00.000Z','',NULL);
INSERT INTO "readers" VALUES(3,1,'R3','','','',1,'2025-06-04T12:00:00.000Z','',NULL);
CREATE TABLE readings (
    id TEXT PRIMARY KEY,
    assignment TEXT NOT NULL REFERENCES presentations (assignment),
    supersedes TEXT UNIQUE REFERENCES readings (id),
    answer TEXT,
    status TEXT NOT NULL CHECK (status IN ('answered', 'skipped', 'timed_out')),
    confidence INTEGER CHECK (confidence > 0),
    comment TEXT NOT NULL,
    response_ms REAL CHECK (response_ms >= 0),
    elapsed_ms REAL CHECK (elapsed_ms >= 0),
    hidden_ms REAL CHECK (hidden_ms >= 0),
    paused_ms REAL CHECK (paused_ms >= 0),
    first_selection_ms REAL CHECK (first_selection_ms >= 0),
    selections TEXT NOT NULL CHECK (json_valid(selections)),
    behaviour TEXT NOT NULL CHECK (json_valid(behaviour)),
    flags TEXT NOT NULL CHECK (json_valid(flags)),
    committed_at_utc TEXT NOT NULL,
    received_at_utc TEXT NOT NULL,
    timing_source TEXT NOT NULL CHECK (timing_source IN ('browser', 'simulated')),
    aid_shown_ms REAL CHECK (aid_shown_ms >= 0),
    CHECK ((status = 'answered') = (answer IS NOT NULL))
) STRICT;
INSERT INTO "readings" VALUES('r-b7b74b392fe43abb82f3bd7be3c21474','69b185fd9941634049afd92d',NULL,'D','answered',4,'',54292.2,54292.2,0.0,0.0,40719.1,'[["D",40719.1]]','{}','[]','2025-06-04T12:00:54.542Z','2025-06-04T12:00:54.542Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-381e2f58e9b95f8c6910692ad17ecd47','0ef070103cd5f8a72ef2e21a',NULL,'B','answered',5,'',11234.5,11234.5,0.0,0.0,8425.9,'[["B",8425.9]]','{}','[]','2025-06-04T12:01:06.026Z','2025-06-04T12:01:06.026Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-bcdf1908af5c71642da18e70714d0169','c938fc2adca9cb5f569f8581',NULL,'C','answered',5,'',8392.3,8392.3,0.0,0.0,6294.2,'[["C",6294.2]]','{}','[]','2025-06-04T12:01:14.669Z','2025-06-04T12:01:14.669Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-074853e1cb6628620ee15eafa4f5f018','6ca9a976b31700a6d5afadae',NULL,'D','answered',3,'',34871.6,34871.6,0.0,0.0,26153.7,'[["D",26153.7]]','{}','[]','2025-06-04T12:01:49.790Z','2025-06-04T12:01:49.790Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-18f88f3678f46c2b6caf5c85f8a09d19','90dd0d9368d25466936ea685',NULL,'C','answered',4,'',16857.9,16857.9,0.0,0.0,12643.4,'[["C",12643.4]]','{}','[]','2025-06-04T12:02:06.898Z','2025-06-04T12:02:06.898Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-c6a5c88610d18a9440187f488f033dd8','7c99edb7d2f8b4a69d32f927',NULL,'A','answered',3,'',16990.1,16990.1,0.0,0.0,12742.6,'[["A",12742.6]]','{}','[]','2025-06-04T12:02:24.138Z','2025-06-04T12:02:24.138Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-cc1310ed37ada2f73f96b3aa7a5c6ad3','479531004b2c8738c4beaea8',NULL,'C','answered',5,'',8939.2,8939.2,0.0,0.0,6704.4,'[["C",6704.4]]','{}','[]','2025-06-04T12:02:33.327Z','2025-06-04T12:02:33.327Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-5e6268e638ab3b4b2624c93cd7b4e198','74cf1ee8df68ff77e0be1c25',NULL,'D','answered',5,'',23592.2,23592.2,0.0,0.0,17694.2,'[["D",17694.2]]','{}','[]','2025-06-04T12:02:57.170Z','2025-06-04T12:02:57.170Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-382db0ad2bb32d1eac841b9a07b89677','b6ea3afff824bc540f130222',NULL,'C','answered',2,'',27025.3,27025.3,0.0,0.0,20269.0,'[["C",20269.0]]','{}','[]','2025-06-04T12:03:24.445Z','2025-06-04T12:03:24.445Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-0f2cfdf7c425b64e0e8ea22ddad50bfb','a9e8e645a1de1f11e7d701b4',NULL,'B','answered',5,'',11741.1,11741.1,0.0,0.0,8805.8,'[["B",8805.8]]','{}','[]','2025-06-04T12:03:36.436Z','2025-06-04T12:03:36.436Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-deb6dedc2be947abf128a3becbe0c293','eb5d36b4b352d7f10c77f76a',NULL,'C','answered',3,'',32004.7,32004.7,0.0,0.0,24003.5,'[["C",24003.5]]','{}','[]','2025-06-04T12:04:08.691Z','2025-06-04T12:04:08.691Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-2ff1c02463a8daf4646403e23f8cb1d7','ec288c585f1042da1a373ff2',NULL,'C','answered',2,'',38153.8,38153.8,0.0,0.0,28615.4,'[["C",28615.4]]','{}','[]','2025-06-04T12:04:47.094Z','2025-06-04T12:04:47.094Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-27b1f681bb69f51d92bf8238e76c43aa','b3ed8547a84c554232c71c9a',NULL,'C','answered',2,'',8886.1,8886.1,0.0,0.0,6664.6,'[["C",6664.6]]','{}','[]','2025-06-04T12:04:56.231Z','2025-06-04T12:04:56.231Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-a8a3c3d2b6c9c08412b9d7a835d8da81','c25acd0198d9a2b69d069728',NULL,'C','answered',5,'',18856.8,18856.8,0.0,0.0,14142.6,'[["C",14142.6]]','{}','[]','2025-06-04T12:05:15.337Z','2025-06-04T12:05:15.337Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-362761ae4ece758f53157fb75f7d3dee','1ad3cfe7ad04c9caac086767',NULL,'B','answered',3,'',36021.3,36021.3,0.0,0.0,27016.0,'[["B",27016.0]]','{}','[]','2025-06-04T12:05:51.609Z','2025-06-04T12:05:51.609Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-fede0aabd9143445e4a0f77ac04fd4c8','453e25133d0d80ad73531b93',NULL,'B','answered',3,'',20348.1,20348.1,0.0,0.0,15261.1,'[["B",15261.1]]','{}','[]','2025-06-04T12:06:12.207Z','2025-06-04T12:06:12.207Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-aa7561cdb2d7ad700f15f83011aeccc7','fe4c9dd0c8b5f4eae5d4dd52',NULL,'A','answered',4,'',21065.0,21065.0,0.0,0.0,15798.8,'[["A",15798.8]]','{}','[]','2025-06-04T12:06:33.522Z','2025-06-04T12:06:33.522Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-c1e992ef5100fa2e01d7dd9e96c4993f','9513a242aabe204df0aff347',NULL,'B','answered',2,'',10338.1,10338.1,0.0,0.0,7753.6,'[["B",7753.6]]','{}','[]','2025-06-04T12:06:44.110Z','2025-06-04T12:06:44.110Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-2d5b56453f7f02b0e0a023e0492ff666','462e002712c800f6b003dea8',NULL,'C','answered',4,'',38128.4,38128.4,0.0,0.0,28596.3,'[["C",28596.3]]','{}','[]','2025-06-04T12:07:22.488Z','2025-06-04T12:07:22.488Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-a0f985b6a1efac0888d970588a4fa04c','1cc927e8b61c6bea0c1d1527',NULL,'C','answered',2,'',8667.8,8667.8,0.0,0.0,6500.8,'[["C",6500.8]]','{}','[]','2025-06-04T12:07:31.406Z','2025-06-04T12:07:31.406Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-007bd61b05297265918d5c7104b8e51c','2dd82f2d0190a81d1bd60106',NULL,'C','answered',5,'',20870.8,20870.8,0.0,0.0,15653.1,'[["C",15653.1]]','{}','[]','2025-06-04T12:00:21.120Z','2025-06-04T12:00:21.120Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-23e91dfbaea26c4c5a8a8d7f5bb8ef37','e65c00ff79f25bd0c97df065',NULL,'B','answered',3,'',12565.9,12565.9,0.0,0.0,9424.4,'[["B",9424.4]]','{}','[]','2025-06-04T12:00:33.936Z','2025-06-04T12:00:33.936Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-5cb0913fa34cd73056b5c367b185cd27','1753a955918afa51fa32ee38',NULL,'C','answered',2,'',16604.1,16604.1,0.0,0.0,12453.1,'[["C",12453.1]]','{}','[]','2025-06-04T12:00:50.790Z','2025-06-04T12:00:50.790Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-d1dcabd599d29c243b5034a1f03c0b85','63dd848e39744060fa2cf08f',NULL,'D','answered',2,'',25092.4,25092.4,0.0,0.0,18819.3,'[["D",18819.3]]','{}','[]','2025-06-04T12:01:16.133Z','2025-06-04T12:01:16.133Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-26be9f7bcc21ba1789e9eae1f82f1138','6abd63398ccf1563c72a9745',NULL,'C','answered',1,'',21547.5,21547.5,0.0,0.0,16160.6,'[["C",16160.6]]','{}','[]','2025-06-04T12:01:37.930Z','2025-06-04T12:01:37.930Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-557805e1a6328c52d5240ef84df90cea','2896626f0e7281f9e55eeca6',NULL,'B','answered',4,'',7607.4,7607.4,0.0,0.0,5705.5,'[["B",5705.5]]','{}','[]','2025-06-04T12:01:45.788Z','2025-06-04T12:01:45.788Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-ceea7ede36cd593e3abcedb5bd5c67fe','b5bb0172c17d059a70f77e34',NULL,'C','answered',1,'',18837.0,18837.0,0.0,0.0,14127.8,'[["C",14127.8]]','{}','[]','2025-06-04T12:02:04.875Z','2025-06-04T12:02:04.875Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-f63268880ac94017bdcbf4deaa15afbf','4cc08e1af0c989c3de7b666f',NULL,'D','answered',1,'',11229.7,11229.7,0.0,0.0,8422.3,'[["D",8422.3]]','{}','[]','2025-06-04T12:02:16.354Z','2025-06-04T12:02:16.354Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-fe438c307fe720bfb1087c73a25f0a63','0aeba5a7269dc2ec3dd3f0c1',NULL,'C','answered',4,'',7670.7,7670.7,0.0,0.0,5753.0,'[["C",5753.0]]','{}','[]','2025-06-04T12:02:24.275Z','2025-06-04T12:02:24.275Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-fc0e9115f825199d8dea96c6dd2326b3','045dd3afcaa86f27e00727aa',NULL,'C','answered',4,'',49511.6,49511.6,0.0,0.0,37133.7,'[["C",37133.7]]','{}','[]','2025-06-04T12:03:14.037Z','2025-06-04T12:03:14.037Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-37647676e85f5a26cf7fc82c6347dd7c','20aecef246fcf46e7e61d211',NULL,'C','answered',1,'',16840.3,16840.3,0.0,0.0,12630.2,'[["C",12630.2]]','{}','[]','2025-06-04T12:03:31.127Z','2025-06-04T12:03:31.127Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-dab34b2753a908e20af92a33c31caeed','23ecbba3be40c8a250321b36',NULL,'C','answered',3,'',23760.0,23760.0,0.0,0.0,17820.0,'[["C",17820.0]]','{}','[]','2025-06-04T12:03:55.137Z','2025-06-04T12:03:55.137Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-dbf17324885d1f97dde216610d270fe8','8f45af334c096213d9ce7940',NULL,'A','answered',5,'',7964.9,7964.9,0.0,0.0,5973.7,'[["A",5973.7]]','{}','[]','2025-06-04T12:04:03.352Z','2025-06-04T12:04:03.352Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-38f83abebee2fc5311926f28d0c77202','c39aefacd7c39f6288b1c432',NULL,'B','answered',2,'',13050.9,13050.9,0.0,0.0,9788.2,'[["B",9788.2]]','{}','[]','2025-06-04T12:04:16.653Z','2025-06-04T12:04:16.653Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-eab3ef8515d94743503e44d9ade12078','38c4e8a38766f978b8ac013b',NULL,'C','answered',3,'',15429.8,15429.8,0.0,0.0,11572.3,'[["C",11572.3]]','{}','[]','2025-06-04T12:04:32.333Z','2025-06-04T12:04:32.333Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-0b957dd71e48f7898497637479b28f7b','0cdaf102f5157d618a0cc36f',NULL,'C','answered',2,'',15450.3,15450.3,0.0,0.0,11587.7,'[["C",11587.7]]','{}','[]','2025-06-04T12:04:48.033Z','2025-06-04T12:04:48.033Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-fa68141d8a88568864cd7275deaa5a1d','90d90ebcc9d2934d29972ab8',NULL,'B','answered',5,'',11706.2,11706.2,0.0,0.0,8779.7,'[["B",8779.7]]','{}','[]','2025-06-04T12:04:59.989Z','2025-06-04T12:04:59.989Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-c697e14b3a31e275f0c8bf70625507a5','a4e65889f00e7a3f8d82bee0',NULL,'D','answered',4,'',19051.9,19051.9,0.0,0.0,14288.9,'[["D",14288.9]]','{}','[]','2025-06-04T12:05:19.291Z','2025-06-04T12:05:19.291Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-76f852bcd257f36088d08845d70c2381','8cfdd38468538b465b29e1fa',NULL,'C','answered',1,'',15432.1,15432.1,0.0,0.0,11574.1,'[["C",11574.1]]','{}','[]','2025-06-04T12:05:34.973Z','2025-06-04T12:05:34.973Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-bc23cc61034fda2f5deb1eaecefc754e','e1fb60e76a63a00d212d3623',NULL,'D','answered',4,'',7725.7,7725.7,0.0,0.0,5794.3,'[["D",5794.3]]','{}','[]','2025-06-04T12:05:42.949Z','2025-06-04T12:05:42.949Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-bca51c6259b00a834944aa595296e75f','db0bea5155f4257ba2386987',NULL,'C','answered',5,'',9869.5,9869.5,0.0,0.0,7402.1,'[["C",7402.1]]','{}','[]','2025-06-04T12:00:10.119Z','2025-06-04T12:00:10.119Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-60f0366af425476d176832931d5c3958','f1fe1986f60b7f472e3e2ce8',NULL,'C','answered',5,'',7181.7,7181.7,0.0,0.0,5386.3,'[["C",5386.3]]','{}','[]','2025-06-04T12:00:17.551Z','2025-06-04T12:00:17.551Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-2042bd7f6e14603362b2d64eab8071d8','d22521d71acc7906931a9827',NULL,'D','answered',4,'',23696.0,23696.0,0.0,0.0,17772.0,'[["D",17772.0]]','{}','[]','2025-06-04T12:00:41.497Z','2025-06-04T12:00:41.497Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-4a426ce5605d009ba5a49f3c139c9f28','c0f61706a9a96e2a8919755e',NULL,'C','answered',1,'',14990.1,14990.1,0.0,0.0,11242.6,'[["C",11242.6]]','{}','[]','2025-06-04T12:00:56.737Z','2025-06-04T12:00:56.737Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-eaa2da0a07f32bed2fbcf25ca1b1dfc3','b72901272c16f0b7d2b0890a',NULL,'B','answered',5,'',17889.8,17889.8,0.0,0.0,13417.3,'[["B",13417.3]]','{}','[]','2025-06-04T12:01:14.877Z','2025-06-04T12:01:14.877Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-1bf2727f8e74c32cee04632dd2d21d87','e10fd2eeb5d83348752787a9',NULL,'C','answered',3,'',8765.6,8765.6,0.0,0.0,6574.2,'[["C",6574.2]]','{}','[]','2025-06-04T12:01:23.892Z','2025-06-04T12:01:23.892Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-47f914cd688347dca6d79604e160168a','be4d722242dc491515e7b6ad',NULL,'A','answered',1,'',16882.2,16882.2,0.0,0.0,12661.7,'[["A",12661.7]]','{}','[]','2025-06-04T12:01:41.024Z','2025-06-04T12:01:41.024Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-776fa65c7e8d4956d5ca8698aba5db65','38676ef36887910058284b2f',NULL,'D','answered',4,'',14751.5,14751.5,0.0,0.0,11063.6,'[["D",11063.6]]','{}','[]','2025-06-04T12:01:56.026Z','2025-06-04T12:01:56.026Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-1cb4eb9fecafc3e5d5963c27f3284a54','17a577209e0cac4ae9aca772',NULL,'B','answered',1,'',12944.2,12944.2,0.0,0.0,9708.2,'[["B",9708.2]]','{}','[]','2025-06-04T12:02:09.220Z','2025-06-04T12:02:09.220Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-d74b9182ac974900132e67594973938d','3bd72224ab0f22e80dc76e26',NULL,'C','answered',4,'',14285.2,14285.2,0.0,0.0,10713.9,'[["C",10713.9]]','{}','[]','2025-06-04T12:02:23.755Z','2025-06-04T12:02:23.755Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-7471886c988eac163ee987339f3db9df','ad16dc9ab9fb32ef8624daba',NULL,'B','answered',5,'',18605.3,18605.3,0.0,0.0,13954.0,'[["B",13954.0]]','{}','[]','2025-06-04T12:02:42.611Z','2025-06-04T12:02:42.611Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-a95ed24f544e647c66bf5882ff74d4e9','0a78ba39d44dd985ef4c2c54',NULL,'C','answered',3,'',20300.1,20300.1,0.0,0.0,15225.1,'[["C",15225.1]]','{}','[]','2025-06-04T12:03:03.161Z','2025-06-04T12:03:03.161Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-dd03018e476217822292b05385bf524f','803ada5cbe79319ee5cfb90f',NULL,'C','answered',5,'',5767.0,5767.0,0.0,0.0,4325.2,'[["C",4325.2]]','{}','[]','2025-06-04T12:03:09.178Z','2025-06-04T12:03:09.178Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-9d2ea7439ad66192315fd04c6dd7a591','4f702ff800c77a33356e1169',NULL,'C','answered',2,'',30850.3,30850.3,0.0,0.0,23137.7,'[["C",23137.7]]','{}','[]','2025-06-04T12:03:40.278Z','2025-06-04T12:03:40.278Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-5f0be0ca0cc068e8e2008be8558b3255','3ff29d1208727ae356270fe5',NULL,'A','answered',5,'',13573.1,13573.1,0.0,0.0,10179.8,'[["A",10179.8]]','{}','[]','2025-06-04T12:03:54.101Z','2025-06-04T12:03:54.101Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-5c4b62d688d122b1e5d5bb35474ca35f','49d8360a8852c7773c256d54',NULL,'C','answered',5,'',40030.3,40030.3,0.0,0.0,30022.7,'[["C",30022.7]]','{}','[]','2025-06-04T12:04:34.381Z','2025-06-04T12:04:34.381Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-bd781441f2a570fe5c96712a2b9ee4a3','4fcdde5ef66a29fb5b12b549',NULL,'D','answered',5,'',10041.7,10041.7,0.0,0.0,7531.3,'[["D",7531.3]]','{}','[]','2025-06-04T12:04:44.673Z','2025-06-04T12:04:44.673Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-ac900e265eacb7ec834dff41a4c12062','7b33475500fec73d04f54e6f',NULL,'C','answered',2,'',8706.7,8706.7,0.0,0.0,6530.0,'[["C",6530.0]]','{}','[]','2025-06-04T12:04:53.630Z','2025-06-04T12:04:53.630Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-51c459dfd5bc732894a3a4380678cc4b','b8841e3f3c9887dc14016dcf',NULL,'A','answered',5,'',10244.4,10244.4,0.0,0.0,7683.3,'[["A",7683.3]]','{}','[]','2025-06-04T12:05:04.124Z','2025-06-04T12:05:04.124Z','simulated',NULL);
INSERT INTO "readings" VALUES('r-8e97120d7d17c8dd7384ba689977f830','5a17fa950cad7d090c537062',NULL,'C','answered',4,'',21960.3,21960.3,0.0,0.0,16470.2,'[["C",16470.2]]','{}','[]','2025-06-04T12:05:26.335Z','2025-06-04T12:05:26.335Z','simulated',NULL);
CREATE TABLE reasons (
    reading TEXT PRIMARY KEY REFERENCES readings (id),
    words TEXT NOT NULL CHECK (words <> '')
) STRICT;
CREATE TABLE recovery_codes (
    person INTEGER NOT NULL REFERENCES people (id),
    code_hash TEXT NOT NULL,
    PRIMARY KEY (person, code_hash)
) STRICT;
CREATE TABLE reference_standard (
    item INTEGER PRIMARY KEY REFERENCES items (id),
    truth TEXT NOT NULL CHECK (truth BETWEEN 'A' AND 'H' AND length(truth) = 1)
) STRICT;
INSERT INTO "reference_standard" VALUES(1,'A');
INSERT INTO "reference_standard" VALUES(2,'D');
INSERT INTO "reference_standard" VALUES(3,'C');
INSERT INTO "reference_standard" VALUES(4,'B');
INSERT INTO "reference_standard" VALUES(5,'A');
INSERT INTO "reference_standard" VALUES(6,'D');
INSERT INTO "reference_standard" VALUES(7,'C');
INSERT INTO "reference_standard" VALUES(8,'B');
INSERT INTO "reference_standard" VALUES(9,'A');
INSERT INTO "reference_standard" VALUES(10,'D');
INSERT INTO "reference_standard" VALUES(11,'C');
INSERT INTO "reference_standard" VALUES(12,'B');
INSERT INTO "reference_standard" VALUES(13,'A');
INSERT INTO "reference_standard" VALUES(14,'D');
INSERT INTO "reference_standard" VALUES(15,'C');
INSERT INTO "reference_standard" VALUES(16,'B');
INSERT INTO "reference_standard" VALUES(17,'A');
INSERT INTO "reference_standard" VALUES(18,'D');
INSERT INTO "reference_standard" VALUES(19,'C');
INSERT INTO "reference_standard" VALUES(20,'B');
INSERT INTO "reference_standard" VALUES(21,'A');
INSERT INTO "reference_standard" VALUES(22,'D');
INSERT INTO "reference_standard" VALUES(23,'C');
INSERT INTO "reference_standard" VALUES(24,'B');
CREATE TABLE report_texts (
    item INTEGER NOT NULL REFERENCES items (id),
    section TEXT NOT NULL,
    words TEXT NOT NULL,
    PRIMARY KEY (item, section)
) STRICT;
INSERT INTO "report_texts" VALUES(1,'findings','FINDINGS-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(1,'impression','IMPRESSION-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(2,'findings','FINDINGS-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(2,'impression','IMPRESSION-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(3,'findings','FINDINGS-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(3,'impression','IMPRESSION-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(4,'findings','FINDINGS-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(4,'impression','IMPRESSION-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(5,'findings','FINDINGS-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(5,'impression','IMPRESSION-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(6,'findings','FINDINGS-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(6,'impression','IMPRESSION-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(7,'findings','FINDINGS-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(7,'impression','IMPRESSION-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(8,'findings','FINDINGS-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(8,'impression','IMPRESSION-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(9,'findings','FINDINGS-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(9,'impression','IMPRESSION-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(10,'findings','FINDINGS-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(10,'impression','IMPRESSION-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(11,'findings','FINDINGS-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(11,'impression','IMPRESSION-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(12,'findings','FINDINGS-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(12,'impression','IMPRESSION-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(13,'findings','FINDINGS-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(13,'impression','IMPRESSION-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(14,'findings','FINDINGS-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(14,'impression','IMPRESSION-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(15,'findings','FINDINGS-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(15,'impression','IMPRESSION-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(16,'findings','FINDINGS-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(16,'impression','IMPRESSION-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(17,'findings','FINDINGS-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(17,'impression','IMPRESSION-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(18,'findings','FINDINGS-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(18,'impression','IMPRESSION-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(19,'findings','FINDINGS-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(19,'impression','IMPRESSION-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(20,'findings','FINDINGS-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(20,'impression','IMPRESSION-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(21,'findings','FINDINGS-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(21,'impression','IMPRESSION-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(22,'findings','FINDINGS-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(22,'impression','IMPRESSION-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(23,'findings','FINDINGS-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(23,'impression','IMPRESSION-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(24,'findings','FINDINGS-NOBODY-MAY-SEE');
INSERT INTO "report_texts" VALUES(24,'impression','IMPRESSION-NOBODY-MAY-SEE');
CREATE TABLE review_ends (
    review INTEGER PRIMARY KEY REFERENCES reviews (id),
    at_utc TEXT NOT NULL
) STRICT;
CREATE TABLE review_items (
    review INTEGER NOT NULL REFERENCES reviews (id),
    position INTEGER NOT NULL,
    item INTEGER NOT NULL REFERENCES items (id),
    PRIMARY KEY (review, position),
    UNIQUE (review, item)
) STRICT;
CREATE TABLE review_verdicts (
    id INTEGER PRIMARY KEY,
    review INTEGER NOT NULL REFERENCES reviews (id),
    item INTEGER NOT NULL REFERENCES items (id),
    person INTEGER NOT NULL REFERENCES people (id),
    verdict TEXT NOT NULL,
    comment TEXT NOT NULL,
    at_utc TEXT NOT NULL
) STRICT;
CREATE TABLE reviewers (
    review INTEGER NOT NULL REFERENCES reviews (id),
    position INTEGER NOT NULL,
    person INTEGER NOT NULL REFERENCES people (id),
    PRIMARY KEY (review, position),
    UNIQUE (review, person)
) STRICT;
CREATE TABLE reviews (
    id INTEGER PRIMARY KEY,
    bank INTEGER NOT NULL REFERENCES banks (id),
    name TEXT NOT NULL,
    opened_at_utc TEXT NOT NULL,
    UNIQUE (bank, name)
) STRICT;
CREATE TABLE scorers (
    scoring INTEGER NOT NULL REFERENCES scorings (id),
    position INTEGER NOT NULL,
    person INTEGER REFERENCES people (id),
    PRIMARY KEY (scoring, position),
    UNIQUE (scoring, person)
) STRICT;
CREATE TABLE scores (
    id INTEGER PRIMARY KEY,
    scoring INTEGER NOT NULL REFERENCES scorings (id),
    position INTEGER NOT NULL,
    scorer INTEGER NOT NULL,
    turn INTEGER NOT NULL CHECK (turn IN (1, 2, 3)),
    score TEXT NOT NULL CHECK (score IN ('correct', 'partly correct', 'incorrect')),
    comment TEXT NOT NULL,
    at_utc TEXT NOT NULL,
    FOREIGN KEY (scoring, scorer) REFERENCES scorers (scoring, position)
) STRICT;
CREATE TABLE scoring_answers (
    scoring INTEGER NOT NULL REFERENCES scorings (id),
    answer_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (scoring, answer_id)
) STRICT;
CREATE TABLE scoring_cases (
    scoring INTEGER NOT NULL REFERENCES scorings (id),
    case_id INTEGER NOT NULL REFERENCES cases (id),
    PRIMARY KEY (scoring, case_id)
) STRICT;
CREATE TABLE scoring_ends (
    scoring INTEGER PRIMARY KEY REFERENCES scorings (id),
    at_utc TEXT NOT NULL
) STRICT;
CREATE TABLE scorings (
    id INTEGER PRIMARY KEY,
    study INTEGER NOT NULL REFERENCES studies (id),
    kind TEXT NOT NULL CHECK (kind IN ('answer', 'explanation')),
    seed INTEGER NOT NULL,
    opened_at_utc TEXT NOT NULL,
    UNIQUE (study, kind)
) STRICT;
CREATE TABLE second_factors (
    person INTEGER PRIMARY KEY REFERENCES people (id),
    secret TEXT NOT NULL,
    added_at_utc TEXT NOT NULL,
    last_step INTEGER NOT NULL,
    failures INTEGER NOT NULL CHECK (failures >= 0),
    failed_at_utc TEXT NOT NULL
) STRICT;
CREATE TABLE sign_ins (
    id TEXT PRIMARY KEY,
    person INTEGER NOT NULL REFERENCES people (id),
    grant_id INTEGER REFERENCES grants (id),
    study INTEGER REFERENCES studies (id),
    at_utc TEXT NOT NULL,
    active_at_utc TEXT NOT NULL DEFAULT '',
    method TEXT NOT NULL DEFAULT 'code'
        CHECK (method IN ('code', 'second factor', 'single sign-on'))
) STRICT;
CREATE TABLE struck_items (
    id INTEGER PRIMARY KEY,
    item INTEGER NOT NULL REFERENCES items (id),
    struck INTEGER NOT NULL CHECK (struck IN (0, 1)),
    reason TEXT NOT NULL,
    at_utc TEXT NOT NULL
) STRICT;
CREATE TABLE studies (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE CHECK (name <> ''),
    bank INTEGER NOT NULL REFERENCES banks (id),
    state TEXT NOT NULL CHECK (state IN ('drawn', 'open', 'closed')),
    protocol TEXT NOT NULL CHECK (json_valid(protocol)),
    protocol_sha256 TEXT NOT NULL,
    drawn_at_utc TEXT NOT NULL,
    opened_at_utc TEXT,
    closed_at_utc TEXT,
    discarded_at_utc TEXT,
    restored_from TEXT NOT NULL DEFAULT '',
    items_salt TEXT NOT NULL DEFAULT ''
) STRICT;
INSERT INTO "studies" VALUES(1,'trial',1,'closed','{"bank_sha256":"f147d217581173ab62f492c3c32f0a7185b9a1b8e4539f5cd54e0979ace3d1e0","cases":["q0010","q0019","q0020","q0001","q0023","q0016","q0018","q0002"],"protocol":{"allocation":"proportional","back_navigation":false,"case_order":"random","cases":8,"comments":false,"conditions":["unaided","image-absent"],"confidence":5,"context":["age","sex"],"feedback":"never","hidden_repeats":2,"margin":0.05,"name":"trial","one_question_per":"item","option_order":"random","practice_cases":0,"seed":20250604,"sessions":1,"stratify_by":["task"],"time_limit_s":0,"washout_days":28}}','b1fab3436eee0527f530ed69e270f00939ba25aa340a1febe7acff0487938312','2025-06-04T12:00:00.000Z','2025-06-04T12:00:00.000Z','2025-06-04T12:00:00.000Z',NULL,'','c24c06b3950475a574d312f3809dd147');
CREATE TABLE teaching_answers (
    id TEXT PRIMARY KEY,
    person INTEGER NOT NULL REFERENCES people (id),
    bank INTEGER NOT NULL REFERENCES banks (id),
    number INTEGER NOT NULL,
    item INTEGER NOT NULL REFERENCES items (id),
    answer TEXT,
    matches INTEGER NOT NULL CHECK (matches IN (0, 1)),
    at_utc TEXT NOT NULL,
    UNIQUE (person, bank, number)
) STRICT;
CREATE TABLE teaching_marks (
    id INTEGER PRIMARY KEY,
    bank INTEGER NOT NULL REFERENCES banks (id),
    taught INTEGER NOT NULL CHECK (taught IN (0, 1)),
    at_utc TEXT NOT NULL
) STRICT;
CREATE TABLE tickets (
    id TEXT PRIMARY KEY,
    person INTEGER NOT NULL REFERENCES people (id),
    expires_at_utc TEXT NOT NULL
) STRICT;
CREATE TABLE withdrawn_models (
    model INTEGER PRIMARY KEY REFERENCES models (id),
    reason TEXT NOT NULL CHECK (reason <> ''),
    actor TEXT NOT NULL,
    at_utc TEXT NOT NULL
) STRICT;
INSERT INTO "withdrawn_models" VALUES(2,'The wrong file','coordinator','2025-06-04T12:00:00.000Z');
CREATE TABLE wrong_images (
    case_id INTEGER PRIMARY KEY REFERENCES cases (id),
    shown_case INTEGER NOT NULL REFERENCES cases (id) CHECK (shown_case <> case_id)
) STRICT;
CREATE INDEX views_of_film ON item_views (film);
CREATE INDEX priors_of_film ON item_priors (film);
CREATE INDEX struck_items_of_item ON struck_items (item);
CREATE VIEW item_films AS
SELECT item, position, film, label, 0 AS prior, NULL AS days FROM item_views
UNION ALL SELECT
    item,
    position + (SELECT count(*) FROM item_views WHERE item_views.item = item_priors.item),
    film, label, 1, days
FROM item_priors;
CREATE VIEW shown_context AS
SELECT item, section, words FROM report_texts
WHERE section IN ('indication', 'comparison') AND NOT (
    words LIKE '%findings:%'
    OR words LIKE '%findings :%'
    OR words LIKE '%impression:%'
    OR words LIKE '%impression :%'
    OR words LIKE '%conclusion:%'
    OR words LIKE '%conclusion :%'
    OR words LIKE '%explanation:%'
    OR words LIKE '%explanation :%'
);
CREATE TRIGGER protocol_is_locked BEFORE UPDATE OF protocol, protocol_sha256, bank ON studies
WHEN old.state <> 'drawn'
BEGIN SELECT RAISE(ABORT, 'the protocol of an opened study is locked'); END;
CREATE TRIGGER unfinished_studies_stay BEFORE DELETE ON studies
WHEN old.state <> 'closed' AND old.discarded_at_utc IS NULL
BEGIN SELECT RAISE(ABORT, 'only a closed study can be removed'); END;
CREATE INDEX cases_of_item ON cases (item);
CREATE UNIQUE INDEX one_standing_grant ON grants (person, coalesce(study, 0), role)
WHERE revoked_at_utc IS NULL;
CREATE UNIQUE INDEX one_standing_reader ON grants (reader) WHERE revoked_at_utc IS NULL;
CREATE TRIGGER readers_have_no_other_role BEFORE INSERT ON grants
WHEN new.role = 'reader' AND EXISTS (
    SELECT 1 FROM grants WHERE person = new.person AND role <> 'reader'
    AND (study IS NULL OR study = new.study)
) BEGIN SELECT RAISE(ABORT, 'whoever runs a study cannot read in it'); END;
CREATE TRIGGER other_roles_do_not_read BEFORE INSERT ON grants
WHEN new.role <> 'reader' AND EXISTS (
    SELECT 1 FROM grants WHERE person = new.person AND role = 'reader'
    AND (new.study IS NULL OR study = new.study)
) BEGIN SELECT RAISE(ABORT, 'a reader of a study cannot run it'); END;
CREATE TRIGGER grants_are_only_revoked BEFORE UPDATE OF person, role, study, reader, given_at_utc
ON grants
BEGIN SELECT RAISE(ABORT, 'a role is given and revoked, never altered'); END;
CREATE INDEX sign_ins_of_person ON sign_ins (person);
CREATE INDEX practice_cases_of_item ON practice_cases (item);
CREATE INDEX readings_of_assignment ON readings (assignment);
CREATE UNIQUE INDEX one_first_reading ON readings (assignment) WHERE supersedes IS NULL;
CREATE VIEW due_aids AS
SELECT
    assignments.id AS assignment,
    aids.case_id IS NULL AS missing,
    aids.answer, aids.confidence, aids.explanation, aids.boxes, aids.map
FROM assignments LEFT JOIN aids ON aids.case_id = assignments.case_id
WHERE assignments.condition = 'aided' AND (
    (assignments.aid = 'first' AND NOT EXISTS (
        SELECT 1 FROM assignments AS earlier
        WHERE earlier.reader = assignments.reader AND earlier.position < assignments.position
        AND NOT EXISTS (SELECT 1 FROM readings WHERE readings.assignment = earlier.id)
    ))
    OR (assignments.aid = 'on demand' AND EXISTS (
        SELECT 1 FROM aid_requests WHERE aid_requests.assignment = assignments.id
    ))
    OR (assignments.aid = 'after' AND EXISTS (
        SELECT 1 FROM assignments AS stage_1
        JOIN readings ON readings.assignment = stage_1.id
        WHERE stage_1.reader = assignments.reader
        AND stage_1.position = assignments.position AND stage_1.stage = 1
    ))
);
CREATE VIEW items_with_images AS
SELECT assignments.id AS assignment, coalesce(shown.item, cases.item) AS item
FROM assignments
JOIN cases ON cases.id = assignments.case_id
LEFT JOIN wrong_images
    ON wrong_images.case_id = cases.id AND assignments.condition = 'wrong-image'
LEFT JOIN cases AS shown ON shown.id = wrong_images.shown_case
WHERE assignments.condition <> 'image-absent';
CREATE INDEX review_verdicts_of_item ON review_verdicts (review, item);
CREATE INDEX scores_of_answer ON scores (scoring, position);
CREATE INDEX teaching_answers_of_item ON teaching_answers (item);
CREATE INDEX events_of_kind ON events (chain, kind, actor);
CREATE TRIGGER films_refuse_update BEFORE UPDATE ON films  BEGIN SELECT RAISE(ABORT, 'films are written once'); END;
CREATE TRIGGER films_refuse_delete BEFORE DELETE ON films WHEN EXISTS (SELECT 1 FROM banks WHERE id = old.bank) BEGIN SELECT RAISE(ABORT, 'films are written once'); END;
CREATE TRIGGER items_refuse_update BEFORE UPDATE ON items  BEGIN SELECT RAISE(ABORT, 'items are written once'); END;
CREATE TRIGGER items_refuse_delete BEFORE DELETE ON items WHEN EXISTS (SELECT 1 FROM banks WHERE id = old.bank) BEGIN SELECT RAISE(ABORT, 'items are written once'); END;
CREATE TRIGGER reviews_refuse_update BEFORE UPDATE ON reviews  BEGIN SELECT RAISE(ABORT, 'reviews are written once'); END;
CREATE TRIGGER reviews_refuse_delete BEFORE DELETE ON reviews WHEN EXISTS (SELECT 1 FROM banks WHERE id = old.bank) BEGIN SELECT RAISE(ABORT, 'reviews are written once'); END;
CREATE TRIGGER exposure_marks_refuse_update BEFORE UPDATE ON exposure_marks  BEGIN SELECT RAISE(ABORT, 'exposure_marks are written once'); END;
CREATE TRIGGER exposure_marks_refuse_delete BEFORE DELETE ON exposure_marks WHEN EXISTS (SELECT 1 FROM banks WHERE id = old.bank) BEGIN SELECT RAISE(ABORT, 'exposure_marks are written once'); END;
CREATE TRIGGER teaching_marks_refuse_update BEFORE UPDATE ON teaching_marks  BEGIN SELECT RAISE(ABORT, 'teaching_marks are written once'); END;
CREATE TRIGGER teaching_marks_refuse_delete BEFORE DELETE ON teaching_marks WHEN EXISTS (SELECT 1 FROM banks WHERE id = old.bank) BEGIN SELECT RAISE(ABORT, 'teaching_marks are written once'); END;
CREATE TRIGGER teaching_answers_refuse_update BEFORE UPDATE ON teaching_answers  BEGIN SELECT RAISE(ABORT, 'teaching_answers are written once'); END;
CREATE TRIGGER teaching_answers_refuse_delete BEFORE DELETE ON teaching_answers WHEN EXISTS (SELECT 1 FROM banks WHERE id = old.bank) BEGIN SELECT RAISE(ABORT, 'teaching_answers are written once'); END;
CREATE TRIGGER item_views_refuse_update BEFORE UPDATE ON item_views  BEGIN SELECT RAISE(ABORT, 'item_views are written once'); END;
CREATE TRIGGER item_views_refuse_delete BEFORE DELETE ON item_views WHEN EXISTS (SELECT 1 FROM items JOIN banks ON banks.id = items.bank WHERE items.id = old.item) BEGIN SELECT RAISE(ABORT, 'item_views are written once'); END;
CREATE TRIGGER item_priors_refuse_update BEFORE UPDATE ON item_priors  BEGIN SELECT RAISE(ABORT, 'item_priors are written once'); END;
CREATE TRIGGER item_priors_refuse_delete BEFORE DELETE ON item_priors WHEN EXISTS (SELECT 1 FROM items JOIN banks ON banks.id = items.bank WHERE items.id = old.item) BEGIN SELECT RAISE(ABORT, 'item_priors are written once'); END;
CREATE TRIGGER item_attributes_refuse_update BEFORE UPDATE ON item_attributes  BEGIN SELECT RAISE(ABORT, 'item_attributes are written once'); END;
CREATE TRIGGER item_attributes_refuse_delete BEFORE DELETE ON item_attributes WHEN EXISTS (SELECT 1 FROM items JOIN banks ON banks.id = items.bank WHERE items.id = old.item) BEGIN SELECT RAISE(ABORT, 'item_attributes are written once'); END;
CREATE TRIGGER reference_standard_refuse_update BEFORE UPDATE ON reference_standard  BEGIN SELECT RAISE(ABORT, 'reference_standard are written once'); END;
CREATE TRIGGER reference_standard_refuse_delete BEFORE DELETE ON reference_standard WHEN EXISTS (SELECT 1 FROM items JOIN banks ON banks.id = items.bank WHERE items.id = old.item) BEGIN SELECT RAISE(ABORT, 'reference_standard are written once'); END;
CREATE TRIGGER report_texts_refuse_update BEFORE UPDATE ON report_texts  BEGIN SELECT RAISE(ABORT, 'report_texts are written once'); END;
CREATE TRIGGER report_texts_refuse_delete BEFORE DELETE ON report_texts WHEN EXISTS (SELECT 1 FROM items JOIN banks ON banks.id = items.bank WHERE items.id = old.item) BEGIN SELECT RAISE(ABORT, 'report_texts are written once'); END;
CREATE TRIGGER explanations_refuse_update BEFORE UPDATE ON explanations  BEGIN SELECT RAISE(ABORT, 'explanations are written once'); END;
CREATE TRIGGER explanations_refuse_delete BEFORE DELETE ON explanations WHEN EXISTS (SELECT 1 FROM items JOIN banks ON banks.id = items.bank WHERE items.id = old.item) BEGIN SELECT RAISE(ABORT, 'explanations are written once'); END;
CREATE TRIGGER struck_items_refuse_update BEFORE UPDATE ON struck_items  BEGIN SELECT RAISE(ABORT, 'struck_items are written once'); END;
CREATE TRIGGER struck_items_refuse_delete BEFORE DELETE ON struck_items WHEN EXISTS (SELECT 1 FROM items JOIN banks ON banks.id = items.bank WHERE items.id = old.item) BEGIN SELECT RAISE(ABORT, 'struck_items are written once'); END;
CREATE TRIGGER review_items_refuse_update BEFORE UPDATE ON review_items  BEGIN SELECT RAISE(ABORT, 'review_items are written once'); END;
CREATE TRIGGER review_items_refuse_delete BEFORE DELETE ON review_items WHEN EXISTS (SELECT 1 FROM reviews JOIN banks ON banks.id = bank WHERE reviews.id = old.review) BEGIN SELECT RAISE(ABORT, 'review_items are written once'); END;
CREATE TRIGGER reviewers_refuse_update BEFORE UPDATE ON reviewers  BEGIN SELECT RAISE(ABORT, 'reviewers are written once'); END;
CREATE TRIGGER reviewers_refuse_delete BEFORE DELETE ON reviewers WHEN EXISTS (SELECT 1 FROM reviews JOIN banks ON banks.id = bank WHERE reviews.id = old.review) BEGIN SELECT RAISE(ABORT, 'reviewers are written once'); END;
CREATE TRIGGER review_verdicts_refuse_update BEFORE UPDATE ON review_verdicts  BEGIN SELECT RAISE(ABORT, 'review_verdicts are written once'); END;
CREATE TRIGGER review_verdicts_refuse_delete BEFORE DELETE ON review_verdicts WHEN EXISTS (SELECT 1 FROM reviews JOIN banks ON banks.id = bank WHERE reviews.id = old.review) BEGIN SELECT RAISE(ABORT, 'review_verdicts are written once'); END;
CREATE TRIGGER review_ends_refuse_update BEFORE UPDATE ON review_ends  BEGIN SELECT RAISE(ABORT, 'review_ends are written once'); END;
CREATE TRIGGER review_ends_refuse_delete BEFORE DELETE ON review_ends WHEN EXISTS (SELECT 1 FROM reviews JOIN banks ON banks.id = bank WHERE reviews.id = old.review) BEGIN SELECT RAISE(ABORT, 'review_ends are written once'); END;
CREATE TRIGGER cases_refuse_update BEFORE UPDATE ON cases  BEGIN SELECT RAISE(ABORT, 'cases are written once'); END;
CREATE TRIGGER cases_refuse_delete BEFORE DELETE ON cases WHEN EXISTS (SELECT 1 FROM studies WHERE id = old.study) BEGIN SELECT RAISE(ABORT, 'cases are written once'); END;
CREATE TRIGGER practice_cases_refuse_update BEFORE UPDATE ON practice_cases  BEGIN SELECT RAISE(ABORT, 'practice_cases are written once'); END;
CREATE TRIGGER practice_cases_refuse_delete BEFORE DELETE ON practice_cases WHEN EXISTS (SELECT 1 FROM studies WHERE id = old.study) BEGIN SELECT RAISE(ABORT, 'practice_cases are written once'); END;
CREATE TRIGGER amendments_refuse_update BEFORE UPDATE ON amendments  BEGIN SELECT RAISE(ABORT, 'amendments are written once'); END;
CREATE TRIGGER amendments_refuse_delete BEFORE DELETE ON amendments WHEN EXISTS (SELECT 1 FROM studies WHERE id = old.study) BEGIN SELECT RAISE(ABORT, 'amendments are written once'); END;
CREATE TRIGGER interventions_refuse_update BEFORE UPDATE ON interventions  BEGIN SELECT RAISE(ABORT, 'interventions are written once'); END;
CREATE TRIGGER interventions_refuse_delete BEFORE DELETE ON interventions WHEN EXISTS (SELECT 1 FROM studies WHERE id = old.study) BEGIN SELECT RAISE(ABORT, 'interventions are written once'); END;
CREATE TRIGGER models_refuse_update BEFORE UPDATE ON models  BEGIN SELECT RAISE(ABORT, 'models are written once'); END;
CREATE TRIGGER models_refuse_delete BEFORE DELETE ON models WHEN EXISTS (SELECT 1 FROM studies WHERE id = old.study) BEGIN SELECT RAISE(ABORT, 'models are written once'); END;
CREATE TRIGGER scorings_refuse_update BEFORE UPDATE ON scorings  BEGIN SELECT RAISE(ABORT, 'scorings are written once'); END;
CREATE TRIGGER scorings_refuse_delete BEFORE DELETE ON scorings WHEN EXISTS (SELECT 1 FROM studies WHERE id = old.study) BEGIN SELECT RAISE(ABORT, 'scorings are written once'); END;
CREATE TRIGGER assignments_refuse_update BEFORE UPDATE ON assignments  BEGIN SELECT RAISE(ABORT, 'assignments are written once'); END;
CREATE TRIGGER assignments_refuse_delete BEFORE DELETE ON assignments WHEN EXISTS (SELECT 1 FROM readers JOIN studies ON studies.id = study WHERE readers.id = old.reader) BEGIN SELECT RAISE(ABORT, 'assignments are written once'); END;
CREATE TRIGGER practice_assignments_refuse_update BEFORE UPDATE ON practice_assignments  BEGIN SELECT RAISE(ABORT, 'practice_assignments are written once'); END;
CREATE TRIGGER practice_assignments_refuse_delete BEFORE DELETE ON practice_assignments WHEN EXISTS (SELECT 1 FROM readers JOIN studies ON studies.id = study WHERE readers.id = old.reader) BEGIN SELECT RAISE(ABORT, 'practice_assignments are written once'); END;
CREATE TRIGGER preparations_refuse_update BEFORE UPDATE ON preparations  BEGIN SELECT RAISE(ABORT, 'preparations are written once'); END;
CREATE TRIGGER preparations_refuse_delete BEFORE DELETE ON preparations WHEN EXISTS (SELECT 1 FROM readers JOIN studies ON studies.id = study WHERE readers.id = old.reader) BEGIN SELECT RAISE(ABORT, 'preparations are written once'); END;
CREATE TRIGGER wrong_images_refuse_update BEFORE UPDATE ON wrong_images  BEGIN SELECT RAISE(ABORT, 'wrong_images are written once'); END;
CREATE TRIGGER wrong_images_refuse_delete BEFORE DELETE ON wrong_images WHEN EXISTS (SELECT 1 FROM cases JOIN studies ON studies.id = study WHERE cases.id = old.case_id) BEGIN SELECT RAISE(ABORT, 'wrong_images are written once'); END;
CREATE TRIGGER aids_refuse_update BEFORE UPDATE ON aids  BEGIN SELECT RAISE(ABORT, 'aids are written once'); END;
CREATE TRIGGER aids_refuse_delete BEFORE DELETE ON aids WHEN EXISTS (SELECT 1 FROM cases JOIN studies ON studies.id = study WHERE cases.id = old.case_id) BEGIN SELECT RAISE(ABORT, 'aids are written once'); END;
CREATE TRIGGER presentations_refuse_update BEFORE UPDATE ON presentations  BEGIN SELECT RAISE(ABORT, 'presentations are written once'); END;
CREATE TRIGGER presentations_refuse_delete BEFORE DELETE ON presentations WHEN EXISTS (SELECT 1 FROM assignments AS assigned JOIN readers ON readers.id = assigned.reader JOIN studies ON studies.id = study WHERE assigned.id = old.assignment) BEGIN SELECT RAISE(ABORT, 'presentations are written once'); END;
CREATE TRIGGER aid_requests_refuse_update BEFORE UPDATE ON aid_requests  BEGIN SELECT RAISE(ABORT, 'aid_requests are written once'); END;
CREATE TRIGGER aid_requests_refuse_delete BEFORE DELETE ON aid_requests WHEN EXISTS (SELECT 1 FROM assignments AS assigned JOIN readers ON readers.id = assigned.reader JOIN studies ON studies.id = study WHERE assigned.id = old.assignment) BEGIN SELECT RAISE(ABORT, 'aid_requests are written once'); END;
CREATE TRIGGER readings_refuse_update BEFORE UPDATE ON readings  BEGIN SELECT RAISE(ABORT, 'readings are written once'); END;
CREATE TRIGGER readings_refuse_delete BEFORE DELETE ON readings WHEN EXISTS (SELECT 1 FROM assignments AS assigned JOIN readers ON readers.id = assigned.reader JOIN studies ON studies.id = study WHERE assigned.id = old.assignment) BEGIN SELECT RAISE(ABORT, 'readings are written once'); END;
CREATE TRIGGER practice_readings_refuse_update BEFORE UPDATE ON practice_readings  BEGIN SELECT RAISE(ABORT, 'practice_readings are written once'); END;
CREATE TRIGGER practice_readings_refuse_delete BEFORE DELETE ON practice_readings WHEN EXISTS (SELECT 1 FROM practice_assignments AS assigned JOIN readers ON readers.id = assigned.reader JOIN studies ON studies.id = study WHERE assigned.id = old.assignment) BEGIN SELECT RAISE(ABORT, 'practice_readings are written once'); END;
CREATE TRIGGER reasons_refuse_update BEFORE UPDATE ON reasons  BEGIN SELECT RAISE(ABORT, 'reasons are written once'); END;
CREATE TRIGGER reasons_refuse_delete BEFORE DELETE ON reasons WHEN EXISTS (SELECT 1 FROM readings JOIN assignments ON assignments.id = readings.assignment JOIN readers ON readers.id = assignments.reader JOIN studies ON studies.id = study WHERE readings.id = old.reading) BEGIN SELECT RAISE(ABORT, 'reasons are written once'); END;
CREATE TRIGGER exclusions_refuse_update BEFORE UPDATE ON exclusions  BEGIN SELECT RAISE(ABORT, 'exclusions are written once'); END;
CREATE TRIGGER exclusions_refuse_delete BEFORE DELETE ON exclusions WHEN EXISTS (SELECT 1 FROM readings JOIN assignments ON assignments.id = readings.assignment JOIN readers ON readers.id = assignments.reader JOIN studies ON studies.id = study WHERE readings.id = old.reading) BEGIN SELECT RAISE(ABORT, 'exclusions are written once'); END;
CREATE TRIGGER predictions_refuse_update BEFORE UPDATE ON predictions  BEGIN SELECT RAISE(ABORT, 'predictions are written once'); END;
CREATE TRIGGER predictions_refuse_delete BEFORE DELETE ON predictions WHEN EXISTS (SELECT 1 FROM models JOIN studies ON studies.id = study WHERE models.id = old.model AND old.model NOT IN (SELECT model FROM withdrawn_models)) BEGIN SELECT RAISE(ABORT, 'predictions are written once'); END;
CREATE TRIGGER withdrawn_models_refuse_update BEFORE UPDATE ON withdrawn_models  BEGIN SELECT RAISE(ABORT, 'withdrawn_models are written once'); END;
CREATE TRIGGER withdrawn_models_refuse_delete BEFORE DELETE ON withdrawn_models WHEN EXISTS (SELECT 1 FROM models JOIN studies ON studies.id = study WHERE models.id = old.model) BEGIN SELECT RAISE(ABORT, 'withdrawn_models are written once'); END;
CREATE TRIGGER scoring_cases_refuse_update BEFORE UPDATE ON scoring_cases  BEGIN SELECT RAISE(ABORT, 'scoring_cases are written once'); END;
CREATE TRIGGER scoring_cases_refuse_delete BEFORE DELETE ON scoring_cases WHEN EXISTS (SELECT 1 FROM scorings JOIN studies ON studies.id = study WHERE scorings.id = old.scoring) BEGIN SELECT RAISE(ABORT, 'scoring_cases are written once'); END;
CREATE TRIGGER scoring_answers_refuse_update BEFORE UPDATE ON scoring_answers  BEGIN SELECT RAISE(ABORT, 'scoring_answers are written once'); END;
CREATE TRIGGER scoring_answers_refuse_delete BEFORE DELETE ON scoring_answers WHEN EXISTS (SELECT 1 FROM scorings JOIN studies ON studies.id = study WHERE scorings.id = old.scoring) BEGIN SELECT RAISE(ABORT, 'scoring_answers are written once'); END;
CREATE TRIGGER scorers_refuse_update BEFORE UPDATE ON scorers  BEGIN SELECT RAISE(ABORT, 'scorers are written once'); END;
CREATE TRIGGER scorers_refuse_delete BEFORE DELETE ON scorers WHEN EXISTS (SELECT 1 FROM scorings JOIN studies ON studies.id = study WHERE scorings.id = old.scoring) BEGIN SELECT RAISE(ABORT, 'scorers are written once'); END;
CREATE TRIGGER scores_refuse_update BEFORE UPDATE ON scores  BEGIN SELECT RAISE(ABORT, 'scores are written once'); END;
CREATE TRIGGER scores_refuse_delete BEFORE DELETE ON scores WHEN EXISTS (SELECT 1 FROM scorings JOIN studies ON studies.id = study WHERE scorings.id = old.scoring) BEGIN SELECT RAISE(ABORT, 'scores are written once'); END;
CREATE TRIGGER scoring_ends_refuse_update BEFORE UPDATE ON scoring_ends  BEGIN SELECT RAISE(ABORT, 'scoring_ends are written once'); END;
CREATE TRIGGER scoring_ends_refuse_delete BEFORE DELETE ON scoring_ends WHEN EXISTS (SELECT 1 FROM scorings JOIN studies ON studies.id = study WHERE scorings.id = old.scoring) BEGIN SELECT RAISE(ABORT, 'scoring_ends are written once'); END;
CREATE TRIGGER group_grants_refuse_update BEFORE UPDATE ON group_grants  BEGIN SELECT RAISE(ABORT, 'group_grants are written once'); END;
CREATE TRIGGER group_grants_refuse_delete BEFORE DELETE ON group_grants WHEN EXISTS (SELECT 1 FROM grants WHERE id = old.grant_id AND (study IS NULL OR study IN (SELECT id FROM studies))) BEGIN SELECT RAISE(ABORT, 'group_grants are written once'); END;
CREATE TRIGGER events_refuse_update BEFORE UPDATE ON events  BEGIN SELECT RAISE(ABORT, 'events are written once'); END;
CREATE TRIGGER events_refuse_delete BEFORE DELETE ON events WHEN EXISTS (SELECT 1 WHERE old.chain NOT LIKE 'study:%' UNION ALL SELECT 1 FROM studies WHERE old.chain = 'study:' || name OR substr(old.chain, 1, length(name) + 7) = 'study:' || name || '#') BEGIN SELECT RAISE(ABORT, 'events are written once'); END;
COMMIT;
PRAGMA user_version = 14;
PRAGMA application_id = 1381134189;
