-- Records and commits the intent; must be sent outside a transaction block, alone.
CALL jobtop.begin_effect($1::text, $2::text::uuid);
