CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO StringIds VALUES (1, 'f'), (3, 'cudaLaunchKernel_v7000'), (4,'cudaMemPrefetchAsync_v8000');
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, "end", globalTid, correlationId, nameId, returnValue);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (0, 100, 83886086, 1, 3, 0);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, "end", deviceId, contextId, streamId, correlationId, globalPid, shortName, gridX, gridY, gridZ,
  blockX, blockY, blockZ);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (50, 150, 0, 1, 7, 1, 83886080, 1, 1, 1, 1, 32, 1, 1);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start, "end", deviceId, contextId, streamId, correlationId, globalPid, bytes, copyKind, srcKind, dstKind);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (60, 90, 0, 1, 0, 0, 83886080, 65536, 11, 4, 4), (100, 120, 0, 1, 0, 0, 83886080, 65536, 12, 4, 4), (130, 140, 0, 1, 0, 0, 83886080, 4096, 13, 4, 4),(150, 170, 0, 1, 7, 0, 83886080, 4096, 1, 0, 2);
