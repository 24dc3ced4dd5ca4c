-- Records and commits the intents of jobs under one token; must be sent outside a transaction block, alone.
CALL jobtop.begin_effects($1::text[], $2::text::uuid);
